import { isTerminal, type Job, type JobError, type OriginalFacts, type Output } from '../../core/job.ts'
import { JOB_ERRORS } from '../../core/job-errors.ts'
import type { Timing } from '../../core/timing.ts'
import type { AcceptedJobBody, JobBody } from './schemas/job.ts'

export type Retention = Pick<Timing, 'resultRetentionMs' | 'tombstoneRetentionMs'>

export function jobUrl(jobId: string): string {
  return `/v1/jobs/${jobId}`
}

export function imageUrl(jobId: string, output: string): string {
  return `/v1/images/${jobId}/${output}`
}

/** A job as clients see it. `done` says what they wait for, so that none depends on the list of states. */
export function jobRepresentation(job: Job, retention: Retention): JobBody {
  const { jobId, status, attempts, lastError, outputs, error } = job
  const done = isTerminal(status)
  const retried = status === 'QUEUED' && lastError !== null
  return {
    job_id: jobId,
    status,
    done,
    url: jobUrl(jobId),
    created_at: job.createdAt.toISOString(),
    finished_at: job.finishedAt?.toISOString(),
    expires_at: done ? undefined : job.deadlineAt.toISOString(),
    result_expires_at: resultExpiresAt(job, retention).toISOString(),
    attempts,
    last_error: done || !lastError ? undefined : errorRepresentation(lastError),
    next_attempt_at: retried ? job.runAt.toISOString() : undefined,
    original: objectRepresentation(imageUrl(jobId, 'original'), job.original),
    ...(status === 'SUCCEEDED' && {
      result: imageUrl(jobId, 'thumbnail'),
      outputs: (outputs ?? []).map((output) => ({
        name: output.name,
        ...objectRepresentation(imageUrl(jobId, output.name), output),
      })),
    }),
    error: error ? errorRepresentation(error) : undefined,
    warnings: job.warnings as JobBody['warnings'],
  }
}

/** The job of a 202, to a request with or without a key. */
export function acceptedRepresentation(job: Job, retention: Retention, withKey: boolean): AcceptedJobBody {
  const resultMs = resultExpiresAt(job, retention).getTime()
  return {
    ...jobRepresentation(job, retention),
    // The key lives with the job's row, which outlives its results.
    idempotency_expires_at: withKey
      ? new Date(resultMs + retention.tombstoneRetentionMs).toISOString()
      : undefined,
  }
}

export function errorRepresentation({ code, message }: JobError): NonNullable<JobBody['error']> {
  return { code, message, retryable: JOB_ERRORS[code].retryable }
}

/** Results are kept for a time from the job's end on; of one that is not done it is certain only that it ends later than now. */
function resultExpiresAt({ finishedAt, createdAt }: Job, { resultRetentionMs }: Retention): Date {
  return new Date((finishedAt ?? createdAt).getTime() + resultRetentionMs)
}

function objectRepresentation(url: string, object: OriginalFacts | Output): JobBody['original'] {
  const { contentType, bytes, sha256, width, height } = object
  return {
    ...{ url, bytes, sha256, width, height },
    content_type: contentType as JobBody['original']['content_type'],
  }
}
