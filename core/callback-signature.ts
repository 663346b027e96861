import { createHmac } from 'node:crypto'
import type { Random } from './ports/random.ts'

const PREFIX = 'whsec_'
/** Standard Webhooks 1.0.0 asks for 24 bytes at least and 64 at most. */
const SECRET_BYTES = 32

/** A new signing secret: `whsec_` and the base64 of its bytes. */
export function mintCallbackSecret(random: Random): string {
  return PREFIX + Buffer.from(random.bytes(SECRET_BYTES)).toString('base64')
}

/**
 * The headers that tell a receiver who sent what and when (Standard Webhooks 1.0.0). One signature for each secret, so
 * that while a secret is replaced the receiver may know the old one or the new one.
 *
 * @param at when it is sent, in milliseconds since the epoch
 * @param secrets as {@link mintCallbackSecret} makes them
 */
export function callbackHeaders(id: string, at: number, body: string, secrets: readonly string[]) {
  const timestamp = String(Math.floor(at / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
