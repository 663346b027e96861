import { isTerminal, type Job } from '../../../core/job.ts'
import {
  type JobPage,
  PACE_JOBS,
  PACE_WINDOW_MS,
  type QueuePace,
  type Reading,
} from '../../../core/ports/jobs.ts'
import { STATUS_AFTER, type Transition } from '../../../core/transition.ts'
import { type JobRow, recordId, type Tables, toJob } from './tables.ts'

type Arguments<Method extends keyof Reading> = Parameters<Reading[Method]>[0]

export function find(tables: Tables, jobId: string): Job | null {
  const row = tables.jobs.get(jobId)
  return row ? toJob(tables, row) : null
}

export function findByKey(tables: Tables, key: { tenant: string; key: string }): Job | null {
  const jobId = tables.idempotencyRecords.get(recordId(key))?.jobId
  return jobId ? find(tables, jobId) : null
}

export function endedAmong(tables: Tables, jobIds: readonly string[]): Job[] {
  return [...tables.jobs.values()]
    .filter(({ jobId, status }) => jobIds.includes(jobId) && isTerminal(status))
    .map((row) => toJob(tables, row))
}

export function transitionsAfter(tables: Tables, followed: Arguments<'transitionsAfter'>): Transition[] {
  const after = new Map(followed.map(({ jobId, afterId }) => [jobId, Number(afterId)]))
  return tables.jobEvents
    .filter(({ jobId, eventId, event }) => eventId > (after.get(jobId) ?? Infinity) && event in STATUS_AFTER)
    .map(({ eventId, at, ...row }) => ({ ...row, eventId: String(eventId), at: new Date(at) }) as Transition)
}

export function list(
  tables: Tables,
  { tenant, status, createdAfter, cursor, limit }: Arguments<'list'>,
): JobPage {
  const found = [...tables.jobs.values()]
    .filter((row) => row.tenant === tenant && row.deletedAt === null)
    .filter((row) => !status || row.status === status)
    .filter((row) => !createdAfter || row.createdAt >= createdAfter.getTime() + 1)
    .filter(
      (row) =>
        !cursor ||
        newestFirst(row, { jobId: cursor.jobId, createdAt: Number(cursor.createdAtUs) / 1_000 }) > 0,
    )
    .sort(newestFirst)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    jobs: shown.map((row) => toJob(tables, row)),
    next:
      last && found.length > limit
        ? { createdAtUs: String(last.createdAt * 1_000), jobId: last.jobId }
        : null,
  }
}

type Place = Pick<JobRow, 'createdAt' | 'jobId'>

function newestFirst(a: Place, b: Place): number {
  return b.createdAt - a.createdAt || (a.jobId < b.jobId ? 1 : a.jobId > b.jobId ? -1 : 0)
}

export function queuePace(tables: Tables): QueuePace {
  const now = tables.now()
  const rows = [...tables.jobs.values()]
  const newest = rows
    .filter(({ finishedAt, deletedAt }) => finishedAt !== null && deletedAt === null)
    .filter(({ finishedAt }) => finishedAt! > now - PACE_WINDOW_MS)
    .sort((a, b) => b.finishedAt! - a.finishedAt!)
    .slice(0, PACE_JOBS)
  const work = newest
    .filter(({ claimedAt }) => claimedAt !== null)
    .map(({ claimedAt, finishedAt }) => finishedAt! - claimedAt!)
    .sort((a, b) => a - b)
  const due = rows
    .filter(({ status, runAt }) => status === 'QUEUED' && runAt <= now)
    .map(({ runAt }) => runAt)
  return {
    ended: newest.length,
    withinMs: newest.length > 0 ? now - newest.at(-1)!.finishedAt! : 0,
    workMs: work[Math.ceil(work.length / 2) - 1] ?? null,
    running: rows.filter(({ status }) => status === 'RUNNING').length,
    waiting: due.length,
    oldestDueAt: due.length > 0 ? new Date(Math.min(...due)) : null,
    newestDueAt: due.length > 0 ? new Date(Math.max(...due)) : null,
    oldestWaitedMs: due.length > 0 ? now - Math.min(...due) : 0,
  }
}
