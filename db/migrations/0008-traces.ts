import { type Kysely, sql } from 'kysely'

/**
 * The trace of the request that a job came with (`traceparent`, W3C Trace Context). On the job rather than on its outbox row,
 * so that a row that a sweep writes, and a callback, go on with it too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table jobs add column traceparent text`.execute(db)
}
