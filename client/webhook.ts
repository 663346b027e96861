import type { Webhook } from './types.ts'

/** A request that is not to be taken for a callback of the service. */
export class WebhookError extends Error {
  readonly code: 'header_missing' | 'too_old' | 'signature_wrong'

  constructor(code: WebhookError['code'], message: string) {
    super(message)
    this.name = 'WebhookError'
    this.code = code
  }
}

/** How far the sender's clock, or a recorded request, may be off: no more, or a stolen one could be sent again. */
const TOLERANCE_SECONDS = 300

/**
 * Checks a callback (Standard Webhooks, HMAC-SHA256) and gives its content. The same `webhook-id` may come more than
 * once: act on each only once.
 *
 * @param body as it was received, byte for byte; JSON that was parsed and written again does not verify
 * @param secrets `whsec_…`, those that are valid now: during a rotation both
 * @throws {WebhookError}
 */
export async function verifyWebhook(
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string | Uint8Array,
  secrets: string | readonly string[],
): Promise<Webhook> {
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const signatures = header(headers, 'webhook-signature')
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (!(Math.abs(Date.now() / 1_000 - seconds) <= TOLERANCE_SECONDS)) {
    throw new WebhookError('too_old', `webhook-timestamp is not within ${TOLERANCE_SECONDS} s of now`)
  }
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const candidates = signatures
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? [decoded(one.slice(3))] : []))

  let valid = false
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const raw = decoded(secret.replace(/^whsec_/, ''))
    if (!raw || raw.length === 0) throw new TypeError('a webhook secret is whsec_ and base64')
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ])
    for (const candidate of candidates) {
      // WebCrypto compares in constant time; every pair is tried, so that the time says nothing about which one fits.
      if (candidate && (await crypto.subtle.verify('HMAC', key, candidate, signed))) valid = true
    }
  }
  if (!valid) throw new WebhookError('signature_wrong', 'no signature fits the body and a secret')
  return JSON.parse(text) as Webhook
}

function header(headers: Headers | Record<string, string | string[] | undefined>, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value !== 'string' || value === '')
    throw new WebhookError('header_missing', `${name} is missing`)
  return value
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))
  } catch {
    return null
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
