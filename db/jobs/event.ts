import { type RawBuilder, sql } from 'kysely'
import type { JobEvent } from '../schema.ts'

/**
 * The part of a statement that appends an event for each job that its part named `changed` returned: a transition that
 * changed no row leaves no event.
 */
export function appendEvent(event: JobEvent, detail: object | null = null): RawBuilder<unknown> {
  return sql`insert into job_events (job_id, event, fence, attempts, detail)
    select job_id, ${event}, fence, attempts, ${detail && JSON.stringify(detail)}::jsonb from changed`
}
