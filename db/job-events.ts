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
 * All events of a job, in the order of their ids. That is not quite the order of their commits: an event with a lower
 * id may appear later, so whoever follows a job reads them all and leaves out the ones it knows.
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
