import type { CallbackRow, Tables } from '../memory/tables.ts'
import type { Report } from './violation.ts'

/**
 * Exactly one callback is owed for each end of a job that asked for one: from the transaction of the end on, with what
 * the end was, for as long as the job has a row.
 *
 * @returns to be called after each transaction
 */
export function watchCallbacks(tables: Tables, report: Report): () => void {
  let previous = new Map<string, CallbackRow>()

  return () => {
    const owed = new Map([...tables.callbacks].map(([id, row]) => [id, { ...row }]))
    const ends = new Map<string, number>()
    for (const { jobId } of tables.processedOperations.values()) ends.set(jobId, (ends.get(jobId) ?? 0) + 1)
    const counts = new Map<string, number>()
    for (const [id, row] of owed) {
      counts.set(row.jobId, (counts.get(row.jobId) ?? 0) + 1)
      const before = previous.get(id)
      if (!before) checkNew(row)
      else if (JSON.stringify(before) !== JSON.stringify(row)) report('callback', `${id} says something else`)
    }
    for (const { jobId, callbackUrl } of tables.jobs.values()) {
      const due = callbackUrl === null ? 0 : (ends.get(jobId) ?? 0)
      const found = counts.get(jobId) ?? 0
      if (found !== due) report('callback', `${jobId}: ${found} callbacks for ${due} ends that asked for one`)
    }
    for (const { jobId } of owed.values()) {
      if (!tables.jobs.has(jobId)) report('callback', `${jobId} is forgotten, and its callback is not`)
    }
    previous = owed
  }

  function checkNew({ callbackId, jobId, event, url, error }: CallbackRow): void {
    const job = tables.jobs.get(jobId)
    const says = { event, url, error }
    const is = {
      event: job?.status === 'SUCCEEDED' ? 'job.succeeded' : 'job.failed',
      url: job?.callbackUrl,
      error: job?.error,
    }
    if (JSON.stringify(says) !== JSON.stringify(is)) {
      report('callback', `${callbackId} says ${JSON.stringify(says)} of ${JSON.stringify(is)}`)
    }
  }
}
