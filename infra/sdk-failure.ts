import { type Dependency, DependencyError } from '../core/errors.ts'

/**
 * What a failed call to AWS is to its caller: the signal's reason when the signal ended it, otherwise a
 * {@link DependencyError}, whatever the status: a call that our own configuration spoils is no fault of a job's.
 *
 * The cause is a copy of the SDK's error with its name, message and status alone. The original carries the response
 * and, in some cases, the request with its signed headers, and an error ends up in logs.
 */
export function sdkFailure(
  dependency: Dependency,
  call: string,
  error: unknown,
  signal?: AbortSignal,
): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof DependencyError) return error
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  const cause = Object.assign(new Error(message), { name })
  return new DependencyError(
    dependency,
    `${call}: ${name}${status ? ` (${status})` : ''}: ${message || 'no message'}`,
    { cause },
  )
}

/** Says nothing. Without a logger of its own, the SDK writes to the console whenever a streamed upload fails. */
export const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
