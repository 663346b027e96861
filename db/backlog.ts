import { type Kysely, sql } from 'kysely'
import { classified } from './classified.ts'
import type { Database } from './schema.ts'

/** How far behind the service is, by the database's clock. Ages are whole seconds, 0 where there is nothing. */
export interface Backlog {
  jobsNotDone: number
  oldestJobAgeSeconds: number
  outboxRows: number
  oldestOutboxRowAgeSeconds: number
}

/** @throws {DependencyError} when the database cannot be asked */
export async function readBacklog(db: Kysely<Database>): Promise<Backlog> {
  const age = sql`coalesce(extract(epoch from now() - min(created_at)), 0)::integer`
  const { rows } = await sql<Backlog>`
    select "jobsNotDone", "oldestJobAgeSeconds", "outboxRows", "oldestOutboxRowAgeSeconds"
    from (
      select count(*)::integer as "jobsNotDone", ${age} as "oldestJobAgeSeconds"
      from jobs where status in ('QUEUED', 'RUNNING')
    ) jobs, (
      select count(*)::integer as "outboxRows", ${age} as "oldestOutboxRowAgeSeconds" from outbox
    ) outbox`
    .execute(db)
    .catch((error: unknown) => {
      throw classified(error)
    })
  return rows[0]!
}
