import { type Span, SpanKind } from '@opentelemetry/api'
import { callbackBody } from '../../core/callback.ts'
import { judgeSend, type SendOutcome } from '../../core/callback-schedule.ts'
import { callbackHeaders } from '../../core/callback-signature.ts'
import type { Callbacks, DueCallback } from '../../core/ports/callbacks.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Random } from '../../core/ports/random.ts'
import type { SendCallback } from '../../infra/callbacks/send.ts'
import type { Log } from '../../infra/log.ts'
import { failSpan, inSpan } from '../../infra/tracing/spans.ts'

export interface CallbackParts {
  callbacks: Pick<Callbacks, 'claim' | 'record'>
  send: SendCallback
  clock: Clock
  random: Random
  log: Log
  /** Told when a slot is free again: there may be more to send. */
  onFree: () => void
}

/** How often a process looks for what is due when nothing tells it to. */
export const CALLBACK_POLL_MS = 1_000
/** Callbacks that one process sends at a time. */
const MAX_IN_FLIGHT = 64
/** Of those of all processes, how many go to one receiver, and how many are one tenant's. */
const PER_HOST = 4
const PER_TENANT = 16
/** How long a sender has for one: the request's deadline, and then some to record it. */
const LEASE_MS = 60_000

export interface CallbackSender {
  /** Starts to send what is due and there is room for; returns whether there may be more. */
  turn(): Promise<boolean>
  /** Resolves when nothing is being sent. */
  settled(): Promise<void>
}

/**
 * Sends callbacks, apart from everything else: a receiver that hangs keeps its own slots and nothing more. At least
 * once: a sender that dies between sending and recording has its callback sent again, under the same id.
 */
export function createCallbackSender(parts: CallbackParts): CallbackSender {
  const { callbacks, random, log, onFree } = parts
  const inFlight = new Set<Promise<void>>()

  return {
    async turn() {
      const max = MAX_IN_FLIGHT - inFlight.size
      if (max === 0) return false
      const token = Buffer.from(random.bytes(16)).toString('hex')
      const limits = { perHost: PER_HOST, perTenant: PER_TENANT }
      const due = await callbacks.claim({ token, max, leaseMs: LEASE_MS, ...limits })
      for (const callback of due) {
        const sent = deliver(parts, callback, token)
          .catch((err) => {
            // Its lease runs out, and it is sent again.
            log.warn({ err, callback_id: callback.callbackId }, 'callback not recorded')
          })
          .finally(() => {
            inFlight.delete(sent)
            onFree()
          })
        inFlight.add(sent)
      }
      return due.length > 0
    },
    async settled() {
      await Promise.all(inFlight)
    },
  }
}

function deliver(parts: CallbackParts, callback: DueCallback, token: string): Promise<void> {
  const { callbackId, jobId, sends, traceparent } = callback
  const attributes = { 'img42.callback_id': callbackId, 'img42.job_id': jobId, 'img42.sends': sends }
  return inSpan('callback', { kind: SpanKind.CLIENT, parent: traceparent, attributes }, (span) =>
    send(parts, callback, token, span),
  )
}

async function send(parts: CallbackParts, callback: DueCallback, token: string, span: Span): Promise<void> {
  const { callbacks, clock, random, log } = parts
  const { callbackId, jobId, sends } = callback
  const startedAt = clock.now()
  const outcome = await sendSigned(parts, callback)
  const durationMs = clock.now() - startedAt
  const verdict = judgeSend(random, outcome, sends)
  if (outcome.kind === 'failed') failSpan(span, new Error(outcome.error))
  else span.setAttribute('http.response.status_code', outcome.statusCode)
  const answer = outcome.kind === 'answered' ? { status_code: outcome.statusCode } : { error: outcome.error }
  log.info(
    { callback_id: callbackId, job_id: jobId, ...answer, duration_ms: durationMs, state: verdict.state },
    'callback sent',
  )
  await callbacks.record({ callbackId, token, durationMs, outcome, verdict })
}

function sendSigned({ send, clock }: CallbackParts, callback: DueCallback): Promise<SendOutcome> {
  const { callbackId, url, secrets } = callback
  // Nobody could tell an unsigned callback from anybody's.
  if (secrets.length === 0) return Promise.resolve({ kind: 'failed', error: 'no_secret' })
  const body = callbackBody(callback)
  return send({ url, headers: callbackHeaders(callbackId, clock.now(), body, secrets), body })
}
