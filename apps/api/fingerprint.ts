import { createHash } from 'node:crypto'

/**
 * What a request asked for, as one hexadecimal SHA-256: two requests with one idempotency key are the same request
 * exactly if their fingerprints are. Kept for as long as the key is, so its form can never change.
 */
export function fingerprint(request: { declaredType: string | null; sha256: string }): string {
  // The options of a request stand third; there are none yet.
  const canonical = JSON.stringify([request.declaredType, request.sha256, {}])
  return createHash('sha256').update(canonical).digest('hex')
}
