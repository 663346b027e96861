import type { Random } from './ports/random.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The waits after each failure (Standard Webhooks 1.0.0, "Deliverability and reliability"): three days and three hours. */
const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** How often a callback is sent at most, unless it is asked for again. */
export const MAX_SENDS = RETRY_DELAYS_MS.length + 1

/** A wait is up to this much longer than the table says: callbacks that failed together do not come back together. */
const JITTER = 0.2

/** The longest that a receiver may put us off by its Retry-After. */
const MAX_PUT_OFF_MS = 24 * HOUR

/** How a callback's request went. */
export type SendOutcome =
  | { kind: 'answered'; statusCode: number; retryAfterMs: number | null }
  | { kind: 'failed'; error: SendError }

/** Why there was no answer, as the delivery log says it to the tenant: nothing of ours, and no more than it can use. */
export const SEND_ERRORS = [
  /** Nobody could tell an unsigned callback from anybody's: it is not sent. */
  'no_secret',
  'name_unknown',
  /** Not public, and not on the allow-list. */
  'address_refused',
  'connection_refused',
  'connection_lost',
  'tls_failed',
  'malformed_answer',
  'timeout',
] as const

export type SendError = (typeof SEND_ERRORS)[number]

/** What becomes of a callback after a request. */
export type CallbackVerdict =
  | { state: 'DELIVERED' }
  | { state: 'GIVEN_UP' }
  /** The receiver wants no more of them: neither this one nor later ones. */
  | { state: 'DISABLED' }
  | { state: 'PENDING'; delayMs: number }

/**
 * 2xx is success; everything else is failure, a redirection too: following it would send what was meant for one address
 * to another. 410 ends all sending to this receiver.
 *
 * @param sends how often the callback has been sent, this time included
 */
export function judgeSend(random: Random, outcome: SendOutcome, sends: number): CallbackVerdict {
  if (outcome.kind === 'answered') {
    if (outcome.statusCode >= 200 && outcome.statusCode < 300) return { state: 'DELIVERED' }
    if (outcome.statusCode === 410) return { state: 'DISABLED' }
  }
  const delayMs = RETRY_DELAYS_MS[sends - 1]
  if (delayMs === undefined) return { state: 'GIVEN_UP' }
  const asked = outcome.kind === 'answered' ? (outcome.retryAfterMs ?? 0) : 0
  const jittered = Math.round(delayMs * (1 + JITTER * random.uniform()))
  return { state: 'PENDING', delayMs: Math.max(jittered, Math.min(asked, MAX_PUT_OFF_MS)) }
}
