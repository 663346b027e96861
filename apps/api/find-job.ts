import type { Job } from '../../core/job.ts'
import { isJobId } from '../../core/job-id.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { PROBLEMS, ProblemError } from './problem.ts'

/**
 * The tenant's job of this id.
 *
 * @throws {ProblemError} 404 where the tenant has none, 410 where it is a tombstone
 */
export async function findJob(jobs: Pick<Jobs, 'find'>, tenant: string, jobId: string): Promise<Job> {
  const job = isJobId(jobId) ? await jobs.find(jobId) : null
  if (!job || job.tenant !== tenant) throw new ProblemError(PROBLEMS.noSuchJob)
  if (job.deletedAt) throw new ProblemError(PROBLEMS.gone)
  return job
}
