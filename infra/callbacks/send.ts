import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { type CallbackAllow, mayConnect } from '../../core/callback-address.ts'
import type { SendError, SendOutcome } from '../../core/callback-schedule.ts'
import { hostAddress } from '../../core/callback-url.ts'
import { createResolve, type Resolve } from './resolve.ts'

export interface CallbackRequest {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** Sends one callback and says how it went; never rejects. */
export type SendCallback = (request: CallbackRequest) => Promise<SendOutcome>

export interface SendOptions {
  allow: CallbackAllow
  /** The whole exchange: name, connection, request, answer. Defaults to 15 s. */
  timeoutMs?: number
  /** Defaults to the system's. */
  resolve?: Resolve
}

/** More of an answer than anybody reads. */
const MAX_ANSWER_BYTES = 65_536

/**
 * Sends callbacks over the network, each on a connection of its own. Which addresses may be connected to is decided
 * while connecting, on the very address that is used: what a name meant when it was checked proves nothing. Redirections
 * are not followed.
 *
 * What the receiver answered counts as soon as its headers are here; the rest of the answer is read, so that the receiver
 * ends it in peace, up to a limit and the deadline.
 */
export function createSendCallback({ allow, timeoutMs = 15_000, resolve }: SendOptions): SendCallback {
  const lookup = guardedLookup(allow, resolve ?? createResolve(allow))
  return ({ url: text, headers, body }) =>
    new Promise<SendOutcome>((settle) => {
      let answer: SendOutcome | null = null
      const fail = (error: unknown) => settle(answer ?? { kind: 'failed', error: nameOf(error) })
      const url = new URL(text)
      // A literal address is connected to without being looked up.
      const address = hostAddress(url.hostname)
      if (address && !mayConnect(address, allow)) return fail(new AddressRefused())

      const { request: open } = url.protocol === 'https:' ? https : http
      const request = open(url, {
        method: 'POST',
        // No pool: a connection that was checked for one callback is not another's.
        agent: false,
        lookup,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'img42-callbacks',
        },
      })
      request.on('error', fail)
      request.on('response', (response) => {
        const { statusCode = 0 } = response
        const retryAfterMs = secondsOf(response.headers['retry-after'])
        const answered: SendOutcome = { kind: 'answered', statusCode, retryAfterMs }
        answer = answered
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > MAX_ANSWER_BYTES) response.destroy()
        })
        response.on('error', () => {})
        response.on('close', () => settle(answered))
      })
      request.end(body)
      // What no request can be made of must not be tried for ever.
    }).catch((error) => ({ kind: 'failed', error: nameOf(error) }))
}

/** Looks a name up and gives out only the addresses that may be connected to. */
function guardedLookup(allow: CallbackAllow, resolve: Resolve): LookupFunction {
  return (name, { all }, done) => {
    resolve(name).then(
      (found) => {
        const allowed = found
          .filter((address) => allow.hosts.has(name) || mayConnect(address, allow))
          .map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
        const [first] = allowed
        if (!first) done(new AddressRefused(), '')
        else if (all) done(null, allowed)
        else done(null, first.address, first.family)
      },
      (cause) => done(new NameUnknown('', { cause }), ''),
    )
  }
}

class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED'
}

class NameUnknown extends Error {
  readonly code = 'NAME_UNKNOWN'
}

function nameOf(error: unknown): SendError {
  const { code = '', name = '' } = error as NodeJS.ErrnoException
  if (code === 'ADDRESS_REFUSED') return 'address_refused'
  if (code === 'NAME_UNKNOWN') return 'name_unknown'
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'ETIMEDOUT') return 'timeout'
  if (code === 'ECONNREFUSED') return 'connection_refused'
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO)/.test(code)) return 'tls_failed'
  if (code.startsWith('HPE_')) return 'malformed_answer'
  return 'connection_lost'
}

/** A Retry-After in seconds, as milliseconds; null for a date, which nobody sends, and for anything else. */
function secondsOf(header: string | undefined): number | null {
  return header && /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : null
}
