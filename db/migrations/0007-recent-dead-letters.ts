import { type Kysely, sql } from 'kysely'

/** The dead letters of the last hour are counted whenever the metrics are read, however many there have ever been. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index dead_letters_recorded on dead_letters (recorded_at)`.execute(db)
}
