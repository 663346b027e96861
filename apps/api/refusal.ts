import type { Fault } from '../../core/image/fault.ts'
import type { ProblemCode } from './schemas/problem-codes.ts'

/** Why an upload is not taken, in terms of the request: the client can mend it, trying again as it was cannot. */
export interface Refusal {
  status: 400 | 408 | 413 | 415 | 422
  code: ProblemCode
  /** What is wrong, the limit and the value. */
  message: string
  /** Where it is the image that is refused. */
  fault?: Fault
}

/** Ends an upload from within its body: thrown through whoever reads the body. */
export class UploadRefused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.name = 'UploadRefused'
    this.refusal = refusal
  }
}

/** The client is gone, or its body broke off. Nobody waits for an answer. */
export class UploadAborted extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UploadAborted'
  }
}

/** A controller of what one upload does, which `signal` aborts as {@link UploadAborted}. */
export function stoppedBy(signal: AbortSignal): AbortController {
  const stop = new AbortController()
  const abort = () => stop.abort(new UploadAborted('the upload was given up', { cause: signal.reason }))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return stop
}

export const EMPTY_BODY: Refusal = {
  status: 400,
  code: 'empty_body',
  fault: 'file',
  message: 'the request has no body; send the image’s bytes as the body, as curl --data-binary @file does',
}

export function tooLarge(maxBytes: number, bytes: number | null): Refusal {
  const found = bytes === null ? 'this body is longer' : `this body has ${bytes}`
  return {
    status: 413,
    code: 'too_large',
    fault: 'service',
    message: `at most ${maxBytes} bytes are taken; ${found}`,
  }
}
