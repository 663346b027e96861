import { channel } from 'node:diagnostics_channel'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { JobErrorCode } from '../../core/job.ts'
import type { JobEnd } from '../../core/ports/jobs.ts'
import type { Database } from '../schema.ts'
import { oweCallback } from './callback.ts'
import { appendEvent } from './event.ts'

/** The consumer in whose name a job's effect is marked as done. */
const CONSUMER = 'image-processing'

/**
 * The one statement that ends a job. Marker, event, callback and dead letter are inserted *from* what the conditional
 * update returned: a stale caller inserts nothing. A marker that exists already would mean a second end of one
 * generation; the statement then fails as a whole, loudly, instead of passing over it.
 */
export async function endJob(db: Kysely<Database>, { jobId, by, end, deadLetter }: JobEnd): Promise<boolean> {
  const set =
    end.status === 'SUCCEEDED'
      ? sql`outputs = ${JSON.stringify(end.outputs)}::jsonb, result = ${JSON.stringify(end.result)}::jsonb,
          warnings = warnings || ${JSON.stringify(end.warnings)}::jsonb`
      : sql`error_code = ${end.error.code}, error_message = ${end.error.message}`
  const event =
    end.status === 'SUCCEEDED'
      ? appendEvent('succeeded')
      : appendEvent('failed', { code: end.error.code, message: end.error.message })
  const letter = deadLetter
    ? sql`, letter as (
        insert into dead_letters (message_id, job_id, generation, body, reason, receive_count, verdict)
        select ${deadLetter.messageId}, job_id, generation, ${deadLetter.body}, ${deadLetter.reason},
          ${deadLetter.receiveCount}, 'failed'
        from changed
        on conflict (message_id) do nothing
      )`
    : sql``
  const { rows } = await sql`
    with changed as (
      update jobs
      set status = ${end.status}, ${set}, finished_at = now(), lease_owner = null, lease_until = null,
        fence = fence + ${by.kind === 'holder' ? 0 : 1}
      where job_id = ${jobId} and ${mayEnd(by)}
      returning *
    ),
    marker as (
      insert into processed_operations (consumer_name, operation_id, job_id)
      select ${CONSUMER}, job_id || '/' || generation, job_id from changed
    ),
    event as (${event}),
    callback as (${oweCallback(end.status)})
    ${letter}
    select job_id from changed`.execute(db)
  const ended = rows.length === 1
  if (ended) {
    const code = end.status === 'FAILED' ? end.error.code : null
    jobEnded.publish({ status: end.status, code } satisfies JobEnded)
  }
  return ended
}

/**
 * Told of each {@link JobEnded}, by whichever statement it came about: not every answer of the port says that it ended a
 * job. For counting only: a transaction around the statement may still fail.
 */
export const jobEnded = channel('img42:job-ended')

export interface JobEnded {
  status: 'SUCCEEDED' | 'FAILED'
  code: JobErrorCode | null
}

function mayEnd(by: JobEnd['by']): RawBuilder<boolean> {
  switch (by.kind) {
    case 'holder':
      return sql`status = 'RUNNING' and fence = ${by.fence}`
    case 'sweep':
      // The lease is checked again here: a heartbeat extends it without touching the fence.
      return sql`fence = ${by.fence} and (status = 'QUEUED' or (status = 'RUNNING' and lease_until <= now()))`
    case 'owner':
      return sql`status in ('QUEUED', 'RUNNING')`
  }
}
