import { type Kysely, sql } from 'kysely'
import { isTerminal, type JobError } from '../../core/job.ts'
import { exhausted, expired } from '../../core/job-ends.ts'
import type { ClaimOutcome } from '../../core/ports/jobs.ts'
import type { Database } from '../schema.ts'
import { endJob } from './end.ts'
import { appendEvent } from './event.ts'
import { findJob, JOB_COLUMNS, type JobRow, toJob } from './row.ts'
import { fromNow } from './time.ts'

/** How soon to look again at a job that changed hands between two statements. */
const RACE_RETRY_MS = 1_000

export async function claim(
  db: Kysely<Database>,
  { jobId, owner, leaseMs, budget }: { jobId: string; owner: string; leaseMs: number; budget: number },
): Promise<ClaimOutcome> {
  const { rows } = await sql<JobRow>`
    -- Locked, and so as it stands when it is changed: the same claim may be on its way twice.
    with before as (
      select lease_owner is not distinct from ${owner} as repeated from jobs where job_id = ${jobId} for update
    ),
    claimed as (
      update jobs
      set status = 'RUNNING', claimed_at = now(), republications = 0,
        fence = fence + case when repeated then 0 else 1 end,
        attempts = attempts + case when repeated then 0 else 1 end,
        lease_owner = ${owner}, lease_until = ${fromNow(leaseMs)}
      from before
      where job_id = ${jobId} and (
        repeated
        or attempts < ${budget} and deadline_at > now()
          and (status = 'QUEUED' and run_at <= now() or status = 'RUNNING' and lease_until <= now())
      )
      returning jobs.*, repeated
    ),
    -- Claimed again, it is no transition.
    changed as (select * from claimed where not repeated),
    event as (${appendEvent('claimed', { owner })})
    select ${JOB_COLUMNS} from claimed`.execute(db)
  if (rows[0]) {
    const job = toJob(rows[0])
    return { kind: 'claimed', fence: job.fence, attempt: job.attempts, job }
  }

  const job = await findJob(db, jobId)
  if (!job) return { kind: 'unknown' }
  if (isTerminal(job.status)) return { kind: 'finished' }
  if (job.claimableInMs > 0) return { kind: 'not_yet', retryInMs: job.claimableInMs }
  const spent = job.attempts >= budget
  // It may have become claimable between the two statements: no reason to end it.
  if (!spent && !(await isOverdue(db, jobId))) return { kind: 'not_yet', retryInMs: RACE_RETRY_MS }
  const ended = await endJob(db, {
    jobId,
    by: { kind: 'sweep', fence: job.fence },
    ...(spent ? exhausted(job.attempts, job.lastError) : expired()),
  })
  return ended ? { kind: 'finished' } : { kind: 'not_yet', retryInMs: RACE_RETRY_MS }
}

async function isOverdue(db: Kysely<Database>, jobId: string): Promise<boolean> {
  const late = await db
    .selectFrom('jobs')
    .select('job_id')
    .where('job_id', '=', jobId)
    .where('deadline_at', '<=', sql<Date>`now()`)
    .executeTakeFirst()
  return late !== undefined
}

export async function heartbeat(
  db: Kysely<Database>,
  { jobId, fence, leaseMs }: { jobId: string; fence: number; leaseMs: number },
): Promise<boolean> {
  const extended = await db
    .updateTable('jobs')
    .set({ lease_until: fromNow(leaseMs) })
    .where('job_id', '=', jobId)
    .where('fence', '=', fence)
    .where('status', '=', 'RUNNING')
    .returning('job_id')
    .executeTakeFirst()
  return extended !== undefined
}

export async function putBack(
  db: Kysely<Database>,
  given: { jobId: string; fence: number; charged: boolean; delayMs: number; error: JobError | null },
): Promise<boolean> {
  const { jobId, fence, charged, delayMs, error } = given
  const { rows } = await sql`
    with changed as (
      update jobs
      set status = 'QUEUED', fence = fence + 1, attempts = attempts - ${charged ? 0 : 1},
        run_at = ${fromNow(delayMs)}, lease_owner = null, lease_until = null,
        last_error_code = coalesce(${error?.code ?? null}, last_error_code),
        last_error_message = coalesce(${error?.message ?? null}, last_error_message)
      where job_id = ${jobId} and fence = ${fence} and status = 'RUNNING'
      returning job_id, fence, attempts
    ),
    event as (${appendEvent('put_back', { charged, delay_ms: delayMs, code: error?.code ?? null })})
    select job_id from changed`.execute(db)
  return rows.length === 1
}
