import type { JobErrorCode } from './job.ts'
import { describeError } from './job-errors.ts'

/**
 * A callback is owed once for each end of a job that asked for one, and sent until a receiver takes it, up to
 * {@link MAX_SENDS} times. `PENDING → DELIVERED | GIVEN_UP | DISABLED`; back to `PENDING` when it is asked for again.
 */
export type CallbackState =
  /** Waits to be sent, or is being sent. */
  | 'PENDING'
  /** The receiver took it. */
  | 'DELIVERED'
  /** Sent as often as it is, and never taken. */
  | 'GIVEN_UP'
  /** Not sent, because its receiver has answered 410 Gone. */
  | 'DISABLED'

export type CallbackEvent = 'job.succeeded' | 'job.failed'

/** What a callback says: the same bytes however often it is sent, hence all of it from the time of the end. */
export interface CallbackFacts {
  /** The message's id, see {@link callbackId}. */
  callbackId: string
  jobId: string
  event: CallbackEvent
  /** When the job ended. */
  createdAt: Date
  error: { code: JobErrorCode; message: string } | null
}

/**
 * The id that a receiver tells callbacks apart by: one for each end of a job, the same however often it is sent. Without
 * a full stop, which separates the parts of what is signed.
 */
export function callbackId(jobId: string, generation: number): string {
  return `msg_${jobId.slice('img_'.length)}_${generation}`
}

/** The body of a callback's request. It names the job and says how it ended; all else is to be read at its `url`. */
export function callbackBody({ jobId, event, createdAt, error }: CallbackFacts): string {
  const at = createdAt.toISOString()
  return JSON.stringify({
    type: event,
    timestamp: at,
    data: {
      job_id: jobId,
      status: event === 'job.succeeded' ? 'SUCCEEDED' : 'FAILED',
      done: true,
      url: `/v1/jobs/${jobId}`,
      finished_at: at,
      ...(error && { error: describeError(error) }),
    },
  })
}
