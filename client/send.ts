import { ConnectionError, ProblemError, problemOf } from './errors.ts'

/** What the client takes from its surroundings. */
export interface Surroundings {
  fetch: typeof fetch
  /** Resolves after the time, rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** At least 0, below 1. */
  random(): number
}

export interface Call {
  path: string
  init?: RequestInit
  signal?: AbortSignal | undefined
  /** How long one try may take, its answer's body included. */
  tryMs: number
  /** What the request has besides: a body, say, which has to be made anew for each try. */
  eachTry?: (attempt: number) => RequestInit & { duplex?: 'half' }
}

/** Sends a request and reads its answer, again where that is safe. */
export type Send = <T>(call: Call, read: (response: Response, attempt: number) => Promise<T>) => Promise<T>

/** A first try and six more: with the waits between them about a minute. */
const TRIES = 7
const BASE_MS = 500
const CAP_MS = 20_000
/** A service that asks to wait for longer than this is not waited for: the caller knows better what to do meanwhile. */
const LONGEST_WAIT_SECONDS = 300

/**
 * Every request of this client may be sent twice: a GET always, a DELETE because its second answer is understood, an
 * upload by its idempotency key. So a lost answer is a reason to send again, as are 408, 409 for a request that is
 * still under way, 429, and whatever a proxy or a restarting service answers with 5xx.
 */
export function createSend(
  { fetch, sleep, random }: Surroundings,
  baseUrl: string,
  headers: Record<string, string>,
): Send {
  return async (call, read) => {
    const { path, init, signal, tryMs, eachTry } = call
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      const timeout = AbortSignal.timeout(tryMs)
      let failure: ProblemError | ConnectionError
      try {
        const response = await fetch(baseUrl + path, {
          ...init,
          ...eachTry?.(attempt),
          headers: { ...headers, ...(init?.headers as Record<string, string> | undefined) },
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        })
        // Awaited here: an answer that breaks off is a lost one.
        if (response.ok) return await read(response, attempt)
        failure = await problemOf(response)
      } catch (error) {
        signal?.throwIfAborted()
        failure = error instanceof ProblemError ? error : new ConnectionError(error)
      }
      if (attempt >= TRIES || !worthAnother(failure)) throw failure
      await sleep(waitMs(failure, attempt, random), signal)
    }
  }
}

function worthAnother(failure: ProblemError | ConnectionError): boolean {
  if (failure instanceof ConnectionError) return true
  if ((failure.retryAfterSeconds ?? 0) > LONGEST_WAIT_SECONDS) return false
  if (failure.status === 409)
    return failure.code === 'upload_in_progress' || failure.code === 'callback_in_flight'
  return [408, 425, 429, 500, 502, 503, 504].includes(failure.status)
}

function waitMs(failure: ProblemError | ConnectionError, attempt: number, random: () => number): number {
  const backoff = Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1))
  const asked = failure instanceof ProblemError ? failure.retryAfterSeconds : null
  // Never earlier than asked for; spread, so that the clients of a service that comes back do not come all at once.
  return asked === null ? backoff * (0.5 + random() / 2) : asked * 1_000 + random() * BASE_MS
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stopped = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stopped)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stopped, { once: true })
  })
}
