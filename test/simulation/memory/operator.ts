import { insertOutboxRow, type Tables } from './tables.ts'

/** An operator's retry of every job that failed: a new generation with a fresh budget. */
export function retryFailedJobs(tables: Tables, deadlineMs: number): string[] {
  const failed = [...tables.jobs.values()].filter(
    ({ status, deletedAt }) => status === 'FAILED' && deletedAt === null,
  )
  for (const job of failed) {
    job.status = 'QUEUED'
    job.generation++
    job.fence++
    job.attempts = 0
    job.runAt = tables.now()
    job.deadlineAt = tables.now() + deadlineMs
    job.error = null
    job.finishedAt = null
    insertOutboxRow(tables, job.jobId)
    // A row that is left of the last generation may have been sent in it: its relay's confirmation, when it comes,
    // must not take this generation's message away.
    Object.assign(tables.outbox.get(job.jobId)!, { claimToken: null, claimedUntil: null })
  }
  return failed.map(({ jobId }) => jobId)
}
