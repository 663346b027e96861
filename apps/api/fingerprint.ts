import { createHash } from 'node:crypto'
import { DEFAULT_OPTIONS, type JobOptions } from '../../core/job.ts'

/** What a request asks for beside its bytes, as its query says it; its preset with what that stands for now. */
export interface UploadOptions extends JobOptions {
  /** In seconds. */
  expires_in?: number
  callback_url?: string
}

/**
 * What a request asked for, as one hexadecimal SHA-256: two requests with one idempotency key are the same request
 * exactly if their fingerprints are. Kept for as long as the key is, so its form can never change.
 *
 * Of the preset it has the name: a request that is repeated after its preset changed is the same request still, and is
 * answered with the job that it made.
 */
export function fingerprint({
  declaredType,
  sha256,
  options: { preset, strict, expires_in, callback_url },
}: {
  declaredType: string | null
  sha256: string
  options: UploadOptions
}): string {
  // Only what is not the default, so that keys from before there was an option still mean the same; in this order.
  const options = {
    ...(callback_url !== undefined && { callback_url }),
    ...(expires_in !== undefined && { expires_in }),
    ...(preset !== DEFAULT_OPTIONS.preset && { preset }),
    ...(strict && { strict }),
  }
  const canonical = JSON.stringify([declaredType, sha256, options])
  return createHash('sha256').update(canonical).digest('hex')
}
