/**
 * Failures are classified where they arise, by who is at fault; the class decides what becomes of the attempt.
 * Anything else that is thrown is a defect of ours and is treated like a {@link WorkError} of code `internal`.
 */

/** The image, or the request for it, can never succeed: the job fails at once. */
export class PermanentError extends Error {
  readonly code: PermanentCode

  constructor(code: PermanentCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PermanentError'
    this.code = code
  }
}

export type PermanentCode =
  | 'unsupported_type'
  | 'corrupt'
  | 'truncated'
  | 'too_many_pixels'
  | 'too_many_frames'
  | 'not_strict'
  | 'original_missing'

/** The attempt went wrong by itself, perhaps because of the image: charged, and tried again within the budget. */
export class WorkError extends Error {
  readonly code: WorkCode

  constructor(code: WorkCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WorkError'
    this.code = code
  }
}

/**
 * `renderer_crashed`: the rendering process ended by itself. `renderer_out_of_memory`: it took, or was refused, more
 * memory than one image may have. `timeout`: the attempt took too long, and its process was killed.
 */
export type WorkCode =
  | 'renderer_crashed'
  | 'renderer_out_of_memory'
  | 'timeout'
  | 'moderation_failed'
  | 'internal'

/**
 * A dependency (store, database, queue, moderator) was unreachable, slow or refused for reasons of its own: the attempt is
 * given back. The call may have had its effect, unless the error says that it was never sent.
 */
export class DependencyError extends Error {
  readonly dependency: Dependency
  /** Whether the call is known never to have been sent, and so to have had no effect. Defaults to false. */
  readonly unsent: boolean

  constructor(dependency: Dependency, message: string, options: ErrorOptions & { unsent?: boolean } = {}) {
    super(message, options)
    this.name = 'DependencyError'
    this.dependency = dependency
    this.unsent = options.unsent ?? false
  }
}

export type Dependency = 'database' | 'queue' | 'object_store' | 'moderation'
