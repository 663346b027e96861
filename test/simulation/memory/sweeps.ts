import { exhausted, expired } from '../../../core/job-ends.ts'
import type { Sweeps } from '../../../core/ports/jobs.ts'
import { appendEvent, insertOutboxRow, isHeld, type JobRow, type Tables } from './tables.ts'
import { endJob } from './work.ts'

type Arguments<Method extends keyof Sweeps> = Parameters<Sweeps[Method]>[0]

export function republishLost(
  tables: Tables,
  { ageMs, evidenceMs, queueEmpty, max }: Arguments<'republishLost'>,
): string[] {
  const jobs = [...tables.jobs.values()]
  const heardOf = (job: JobRow) => Math.max(job.publishedAt ?? 0, job.runAt, job.republishedAt ?? 0)
  const lost = jobs.filter((job) => {
    if (job.status !== 'QUEUED' || tables.outbox.has(job.jobId)) return false
    if (heardOf(job) >= tables.now() - ageMs * 2 ** Math.min(job.republications, 10)) return false
    if (queueEmpty) return true
    const provenBy = Math.max(job.publishedAt ?? 0, job.runAt) + evidenceMs
    const same = jobs.filter(({ tenant }) => tenant === job.tenant)
    const publishedLater = same.some(({ publishedAt }) => publishedAt !== null && publishedAt >= provenBy)
    return watermark(publishedLater ? same : jobs) >= provenBy
  })
  lost.sort((a, b) => heardOf(a) - heardOf(b))
  return lost.slice(0, max).map((job) => {
    job.republications++
    job.republishedAt = tables.now()
    insertOutboxRow(tables, job.jobId)
    appendEvent(tables, 'republished', job)
    return job.jobId
  })
}

/** How far the queue is: the newest publication whose job was claimed since, or that claim where it came before. */
function watermark(jobs: readonly JobRow[]): number {
  const reached = jobs
    .filter(({ publishedAt, claimedAt }) => publishedAt !== null && claimedAt !== null)
    .sort((a, b) => b.publishedAt! - a.publishedAt!)[0]
  return reached ? Math.min(reached.publishedAt!, reached.claimedAt!) : Number.NEGATIVE_INFINITY
}

export function rescue(tables: Tables, { graceMs, budget, max }: Arguments<'rescue'>): string[] {
  const abandoned = [...tables.jobs.values()]
    .filter(({ status, leaseUntil }) => status === 'RUNNING' && leaseUntil! < tables.now() - graceMs)
    .sort((a, b) => a.leaseUntil! - b.leaseUntil!)
  const rescued = abandoned.filter(({ attempts }) => attempts < budget).slice(0, max)
  for (const job of rescued) {
    job.status = 'QUEUED'
    job.fence++
    job.runAt = tables.now()
    job.leaseOwner = null
    job.leaseUntil = null
    insertOutboxRow(tables, job.jobId)
    appendEvent(tables, 'rescued', job)
  }
  const spent = abandoned.filter(({ attempts }) => attempts >= budget).slice(0, max)
  return [...rescued.map(({ jobId }) => jobId), ...endEach(tables, spent, exhausted)]
}

export function expire(tables: Tables, { max }: Arguments<'expire'>): string[] {
  const late = [...tables.jobs.values()]
    .filter(({ status, deadlineAt }) => status === 'QUEUED' && deadlineAt < tables.now())
    .sort((a, b) => a.deadlineAt - b.deadlineAt)
  return endEach(tables, late.slice(0, max), expired)
}

function endEach(tables: Tables, jobs: readonly JobRow[], ending: typeof exhausted): string[] {
  return jobs
    .filter((job) => !isHeld(tables, job))
    .filter(({ jobId, fence, attempts, lastError }) =>
      endJob(tables, { jobId, by: { kind: 'sweep', fence }, ...ending(attempts, lastError) }),
    )
    .map(({ jobId }) => jobId)
}
