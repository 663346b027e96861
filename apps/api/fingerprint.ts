import { createHash } from 'node:crypto'
import { DEFAULT_OPTIONS, type JobOptions } from '../../core/job.ts'

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
  options: { preset, strict },
}: {
  declaredType: string | null
  sha256: string
  options: Pick<JobOptions, 'preset' | 'strict'>
}): string {
  // Only what is not the default, so that keys from before there were options still mean the same.
  const options = { ...(preset !== DEFAULT_OPTIONS.preset && { preset }), ...(strict && { strict }) }
  const canonical = JSON.stringify([declaredType, sha256, options])
  return createHash('sha256').update(canonical).digest('hex')
}
