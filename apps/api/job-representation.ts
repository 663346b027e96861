import { faultOf, hasFault } from '../../core/image/fault.ts'
import { isTerminal, type Job, type JobError, type OriginalFacts, type Output } from '../../core/job.ts'
import { resultRepresentation } from './result-representation.ts'

/** When a client does well to ask again for a job that is not done, in seconds. */
const RETRY_SECONDS = 2
/** A job that waits for its next attempt may wait for long, but not every such wait lasts. */
const MAX_RETRY_SECONDS = 30

export function jobUrl(jobId: string): string {
  return `/v1/jobs/${jobId}`
}

export function imageUrl(jobId: string, output: string): string {
  return `/v1/images/${jobId}/${output}`
}

/** The answer's Retry-After, in whole seconds. */
export function retryAfterSeconds(job: Job): number {
  const waitsSeconds = job.status === 'QUEUED' ? Math.ceil(job.claimableInMs / 1_000) : 0
  return Math.min(MAX_RETRY_SECONDS, Math.max(RETRY_SECONDS, waitsSeconds))
}

/** A job just accepted, as its 202 shows it. */
export function newJobRepresentation(jobId: string, warnings: Job['warnings']) {
  return { job_id: jobId, status: 'QUEUED', done: false, url: jobUrl(jobId), warnings }
}

/** A job as clients see it. `done` says what they wait for, so that none depends on the list of states. */
export function jobRepresentation(job: Job) {
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
    attempts,
    preset: options.preset,
    strict: options.strict,
    last_error: done ? undefined : (lastError ?? undefined),
    next_attempt_at: retried ? job.runAt.toISOString() : undefined,
    original: objectRepresentation(imageUrl(jobId, 'original'), job.original),
    ...(outputs && {
      // None where a moderator withholds them.
      result: outputs[0] && imageUrl(jobId, outputs[0].name),
      outputs: outputs.map((output) => outputRepresentation(jobId, output)),
    }),
    ...(job.result && resultRepresentation(job.result)),
    error: error ? errorRepresentation(error) : undefined,
    warnings: job.warnings,
  }
}

function errorRepresentation({ code, message }: JobError) {
  return { code, message, fault: hasFault(code) ? faultOf(code) : undefined }
}

/** Variants of one output have their URL in common; the request's Accept header chooses. */
function outputRepresentation(jobId: string, output: Output) {
  const { name, format, frames, durationMs } = output
  return {
    name,
    format,
    ...objectRepresentation(imageUrl(jobId, name), output),
    frames,
    duration_ms: durationMs ?? undefined,
  }
}

function objectRepresentation(url: string, object: OriginalFacts | Output) {
  const { contentType, bytes, sha256, width, height } = object
  return { url, content_type: contentType, bytes, sha256, width, height }
}
