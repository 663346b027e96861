import { createHash } from 'node:crypto'

/** What a request asks for beside its bytes, as its query says it. */
export interface UploadOptions {
  /** In seconds. */
  expires_in?: number
  callback_url?: string
}

/**
 * What a request asked for, as one hexadecimal SHA-256: two requests with one idempotency key are the same request
 * exactly if their fingerprints are. Kept for as long as the key is, so its form can never change.
 */
export function fingerprint(request: {
  declaredType: string | null
  sha256: string
  options: UploadOptions
}): string {
  // By name, whatever the order in which they were asked for.
  const options = Object.fromEntries(
    Object.entries(request.options)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
  const canonical = JSON.stringify([request.declaredType, request.sha256, options])
  return createHash('sha256').update(canonical).digest('hex')
}
