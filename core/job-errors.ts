import { type Fault, faultOf, hasFault } from './image/fault.ts'
import type { JobError, JobErrorCode } from './job.ts'

/** Every code that a failed job may have; `retryable` says whether the same image may succeed, sent again. */
export const JOB_ERRORS = {
  unsupported_type: {
    retryable: false,
    meaning: 'The image is of no accepted type, or of a variety that is not decoded.',
  },
  corrupt: { retryable: false, meaning: 'The image is broken.' },
  truncated: { retryable: false, meaning: 'The image ends too early.' },
  too_many_pixels: { retryable: false, meaning: 'The image has more pixels than this service takes.' },
  too_many_frames: { retryable: false, meaning: 'The image has more frames than this service takes.' },
  not_strict: {
    retryable: false,
    meaning: 'strict=true was asked for, and the image can only be decoded leniently.',
  },
  original_missing: { retryable: true, meaning: 'The original is no longer in the store; send it again.' },
  renderer_crashed: { retryable: true, meaning: 'The decoder died.' },
  renderer_out_of_memory: {
    retryable: true,
    meaning: 'The decoder took more memory than one image may have.',
  },
  moderation_failed: { retryable: true, meaning: 'The moderator refused to judge the image.' },
  timeout: { retryable: true, meaning: 'The attempt took too long.' },
  internal: { retryable: true, meaning: 'A mistake of this service.' },
  dependency_unavailable: {
    retryable: true,
    meaning: 'Something that this service depends on did not answer.',
  },
  attempts_exhausted: { retryable: false, meaning: 'Every attempt that it had ended without a verdict.' },
  dead_lettered: { retryable: true, meaning: 'Its message came back too often; the operators know.' },
  publish_refused: { retryable: true, meaning: 'The queue refused its message.' },
  expired: { retryable: true, meaning: 'It was not begun before its deadline.' },
  cancelled: { retryable: true, meaning: 'Its owner cancelled it.' },
  deleted: { retryable: false, meaning: 'Its owner deleted the image.' },
} as const satisfies Record<JobErrorCode, { retryable: boolean; meaning: string }>

export type JobErrorName = keyof typeof JOB_ERRORS

/** An error as everybody outside is told of it. */
export function describeError({ code, message }: JobError): {
  code: JobErrorName
  message: string
  retryable: boolean
  fault?: Fault
} {
  const { retryable } = JOB_ERRORS[code]
  return { code, message, retryable, ...(hasFault(code) && { fault: faultOf(code) }) }
}
