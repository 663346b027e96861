import { type Kysely, sql } from 'kysely'
import type { Job, JobStatus } from '../../core/job.ts'
import {
  type JobPage,
  type ListCursor,
  PACE_JOBS,
  PACE_WAITING,
  PACE_WINDOW_MS,
  type QueuePace,
} from '../../core/ports/jobs.ts'
import { TRANSITION_EVENTS, type Transition } from '../../core/transition.ts'
import type { Database } from '../schema.ts'
import { JOB_COLUMNS, type JobRow, toJob } from './row.ts'
import { fromNow } from './time.ts'

export async function findByKey(
  db: Kysely<Database>,
  { tenant, key }: { tenant: string; key: string },
): Promise<Job | null> {
  const { rows } = await sql<JobRow>`select ${JOB_COLUMNS} from jobs where job_id = (
    select job_id from idempotency_records where tenant = ${tenant} and key = ${key})`.execute(db)
  return rows[0] ? toJob(rows[0]) : null
}

export async function endedAmong(db: Kysely<Database>, jobIds: readonly string[]): Promise<Job[]> {
  const { rows } = await sql<JobRow>`select ${JOB_COLUMNS} from jobs
    where job_id = any(${jobIds}::text[]) and status in ('SUCCEEDED', 'FAILED')`.execute(db)
  return rows.map(toJob)
}

export async function transitionsAfter(
  db: Kysely<Database>,
  followed: readonly { jobId: string; afterId: string }[],
): Promise<Transition[]> {
  const { rows } = await sql<
    Omit<Transition, 'error'> & { detail: { code: string; message: string } | null }
  >`
    select event_id as "eventId", job_events.job_id as "jobId", event, at, fence, attempts, detail
    from unnest(${followed.map(({ jobId }) => jobId)}::text[], ${followed.map(({ afterId }) => afterId)}::bigint[])
      as followed (job_id, after_id)
    join job_events on job_events.job_id = followed.job_id and event_id > after_id
    where event = any(${TRANSITION_EVENTS}::text[])
    order by event_id`.execute(db)
  return rows.map(({ detail, ...row }) => ({
    ...row,
    error: row.event === 'failed' ? (detail as Transition['error']) : null,
  }))
}

export async function list(
  db: Kysely<Database>,
  page: {
    tenant: string
    status: JobStatus | null
    createdAfter: Date | null
    cursor: ListCursor | null
    limit: number
  },
): Promise<JobPage> {
  const { tenant, status, createdAfter, cursor, limit } = page
  const { rows } = await sql<JobRow & { created_at_us: string }>`
    select ${JOB_COLUMNS}, (extract(epoch from created_at) * 1000000)::bigint as created_at_us
    from jobs
    where tenant = ${tenant} and deleted_at is null
      ${status ? sql`and status = ${status}` : sql``}
      -- A client knows a time by its milliseconds: later is the next one of them.
      ${createdAfter ? sql`and created_at >= ${createdAfter}::timestamptz + interval '1 millisecond'` : sql``}
      ${
        cursor
          ? sql`and (created_at, job_id) <
              (timestamptz 'epoch' + ${cursor.createdAtUs}::bigint * interval '1 microsecond', ${cursor.jobId})`
          : sql``
      }
    order by created_at desc, job_id desc limit ${limit + 1}`.execute(db)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    jobs: shown.map(toJob),
    next: last && rows.length > limit ? { createdAtUs: last.created_at_us, jobId: last.job_id } : null,
  }
}

/** Reads a few index entries, and the queue's up to a limit: cheap, however many jobs there are. */
export async function queuePace(db: Kysely<Database>): Promise<QueuePace> {
  const { rows } = await sql<QueuePace>`
    with newest as (
      select claimed_at, finished_at from jobs
      where finished_at > ${fromNow(-PACE_WINDOW_MS)} and deleted_at is null
      order by finished_at desc limit ${PACE_JOBS}
    ),
    due as (
      select run_at from jobs where status = 'QUEUED' and run_at <= now() limit ${PACE_WAITING}
    )
    select ended, "withinMs", "workMs", running, waiting, "oldestDueAt", "newestDueAt", "oldestWaitedMs" from (
      select count(*)::int as ended,
        coalesce(1000 * extract(epoch from now() - min(finished_at)), 0)::double precision as "withinMs",
        (1000 * percentile_disc(0.5) within group (order by extract(epoch from finished_at - claimed_at)))
          ::double precision as "workMs"
      from newest
    ) as ends, (
      select count(*)::int as waiting, min(run_at) as "oldestDueAt", max(run_at) as "newestDueAt",
        coalesce(1000 * extract(epoch from now() - min(run_at)), 0)::double precision as "oldestWaitedMs"
      from due
    ) as waits, (
      select count(*)::int as running from jobs where status = 'RUNNING'
    ) as runs`.execute(db)
  return rows[0]!
}
