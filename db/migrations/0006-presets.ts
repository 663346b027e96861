import { type Kysely, sql } from 'kysely'

/**
 * What a job was asked for, and what was learnt while it was done. A row without options is one of a version that had
 * none, or was accepted by one during a deploy: it makes the default thumbnail.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table jobs add column options jsonb, add column result jsonb`.execute(db)
}
