import type { Job } from './job.ts'
import type { NewJob } from './ports/jobs.ts'

/** The job as its row stands when it was just accepted. */
export function acceptedJob(
  job: NewJob,
  { createdAt, deadlineAt }: Pick<Job, 'createdAt' | 'deadlineAt'>,
): Job {
  return {
    ...{ jobId: job.jobId, tenant: job.tenant, objectKey: job.objectKey },
    ...{
      original: job.original,
      options: job.options,
      warnings: job.warnings,
      createdAt,
      deadlineAt,
      runAt: createdAt,
    },
    ...{ status: 'QUEUED', fence: 0, attempts: 0, generation: 1, held: false, claimableInMs: 0 },
    ...{ publishedAt: null, leaseUntil: null, outputs: null, result: null, error: null, lastError: null },
    ...{ finishedAt: null, deletedAt: null },
  }
}
