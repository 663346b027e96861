import { isTerminal, type Job, type OriginalFacts, type Output } from '../../core/job.ts'
import { describeError } from '../../core/job-errors.ts'
import type { Timing } from '../../core/timing.ts'
import { resultRepresentation } from './result-representation.ts'
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
  const { jobId, status, attempts, options, lastError, outputs, error } = job
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
    preset: options.preset,
    strict: options.strict,
    last_error: done || !lastError ? undefined : describeError(lastError),
    next_attempt_at: retried ? job.runAt.toISOString() : undefined,
    original: objectRepresentation(imageUrl(jobId, 'original'), job.original),
    ...(outputs && {
      // None where a moderator withholds them.
      result: outputs[0] && imageUrl(jobId, outputs[0].name),
      outputs: outputs.map((output) => outputRepresentation(jobId, output)),
    }),
    ...(job.result && resultRepresentation(job.result)),
    error: error ? describeError(error) : undefined,
    warnings: job.warnings,
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

/** Results are kept for a time from the job's end on; of one that is not done it is certain only that it ends later than now. */
function resultExpiresAt({ finishedAt, createdAt }: Job, { resultRetentionMs }: Retention): Date {
  return new Date((finishedAt ?? createdAt).getTime() + resultRetentionMs)
}

/** Variants of one output have their URL in common; the request's Accept header chooses. */
function outputRepresentation(jobId: string, output: Output): NonNullable<JobBody['outputs']>[number] {
  const { name, format, frames, durationMs } = output
  return {
    name,
    format,
    ...objectRepresentation(imageUrl(jobId, name), output),
    frames,
    duration_ms: durationMs ?? undefined,
  }
}

function objectRepresentation(url: string, object: OriginalFacts | Output): JobBody['original'] {
  const { contentType, bytes, sha256, width, height } = object
  return {
    ...{ url, bytes, sha256, width, height },
    content_type: contentType as JobBody['original']['content_type'],
  }
}
