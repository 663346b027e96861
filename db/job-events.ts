import type { Kysely } from 'kysely'
import type { Database, JobEvent } from './schema.ts'

/** A transition of a job, as it was recorded in the transition's own statement. */
export interface RecordedEvent {
  eventId: string
  event: JobEvent
  /** By the database's clock. */
  at: Date
  fence: number
  /** How much of the budget was spent by then. */
  attempts: number
  /** What the event's kind says beside that; its keys are in snake_case. */
  detail: Record<string, unknown> | null
}

/**
 * All events of a job, in the order of their ids, which is that of their commits: each is inserted by the statement that
 * changes the job's row, after that change, and the row's lock is held until the commit.
 */
export async function readJobEvents(db: Kysely<Database>, jobId: string): Promise<RecordedEvent[]> {
  const rows = await db
    .selectFrom('job_events')
    .select(['event_id as eventId', 'event', 'at', 'fence', 'attempts', 'detail'])
    .where('job_id', '=', jobId)
    .orderBy('event_id')
    .execute()
  return rows.map((row) => ({ ...row, detail: row.detail as RecordedEvent['detail'] }))
}
