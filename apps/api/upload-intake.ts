import { createHash } from 'node:crypto'
import { DependencyError } from '../../core/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Timing } from '../../core/timing.ts'
import { tooLarge, UploadAborted, UploadRefused } from './refusal.ts'

/**
 * The least that a client has to send, on average over the time that it was waited for. Below it, a thousand uploads of
 * a byte a second would hold a thousand connections for an hour each.
 */
export const MIN_BYTES_PER_SECOND = 1_000

export interface IntakeRules {
  limits: Pick<Limits, 'maxBytes'>
  /**
   * `uploadMs` is the longest that the whole body may take; `storeCallMs` the longest wait for the reader to take the
   * next bytes, and after the last ones to be done with them.
   */
  timing: Pick<Timing, 'uploadMs' | 'storeCallMs'>
  /** The longest wait for the client's next bytes, in milliseconds, and what it may take before its pace counts. */
  idleMs: number
}

/** An upload's body on its way through: counted, hashed, checked, and ended when somebody keeps it waiting. */
export interface Intake {
  /** The body, to be read once. Whatever ends it early is thrown from here. */
  chunks: AsyncIterable<Uint8Array>
  /** Hexadecimal SHA-256 and length; known once {@link chunks} came to its end. */
  sum(): { sha256: string; bytes: number }
  /** Ends the watch over who keeps whom waiting. MUST be called, or the watch goes on for ever. */
  close(): void
}

/**
 * @param check sees every chunk once, and is told of the end with null; what it throws ends the body
 * @param announcedSha256 in hexadecimal, what the client says that the body hashes to; null where it says nothing
 * @param stop aborted by the watch, with what ends the upload; aborted by anybody else, it ends the body as well
 */
export function openIntake(
  clock: Clock,
  { limits: { maxBytes }, timing: { uploadMs, storeCallMs }, idleMs }: IntakeRules,
  body: AsyncIterable<Uint8Array>,
  announcedSha256: string | null,
  check: (chunk: Uint8Array | null) => void,
  stop: AbortController,
): Intake {
  const hash = createHash('sha256')
  const closed = new AbortController()
  const endsAt = clock.now() + uploadMs
  let bytes = 0
  let sum: { sha256: string; bytes: number } | null = null
  let waitedForClientMs = 0
  let waiting: { for: 'client' | 'reader'; since: number } = { for: 'reader', since: clock.now() }

  /**
   * Looks four times in the shortest limit. One timer for the whole upload: one for each chunk would cost as much as
   * hashing it.
   */
  async function watch(): Promise<void> {
    const everyMs = Math.min(idleMs, storeCallMs, uploadMs) / 4
    while (!closed.signal.aborted) {
      await clock.sleep(everyMs, closed.signal)
      const waitedMs = clock.now() - waiting.since
      if (waiting.for === 'client' && waitedMs >= idleMs) {
        stop.abort(timedOut(`no byte of the body came for ${idleMs} ms`))
      } else if (waiting.for === 'client' && clock.now() >= endsAt) {
        stop.abort(tookTooLong())
      } else if (waiting.for === 'client' && tooSlow(waitedForClientMs + waitedMs, bytes)) {
        stop.abort(
          new UploadRefused({
            status: 408,
            code: 'upload_too_slow',
            message: `at least ${MIN_BYTES_PER_SECOND} bytes a second have to come, on average`,
          }),
        )
      } else if (waiting.for === 'reader' && waitedMs >= storeCallMs) {
        stop.abort(new DependencyError('object_store', `the store took nothing for ${storeCallMs} ms`))
      }
    }
  }

  const tooSlow = (waitedMs: number, bytes: number) =>
    waitedMs >= idleMs && bytes < (waitedMs / 1_000) * MIN_BYTES_PER_SECOND

  const tookTooLong = () => timedOut(`an upload may take ${uploadMs} ms`)

  async function* chunks(): AsyncGenerator<Uint8Array> {
    const iterator = body[Symbol.asyncIterator]()
    try {
      while (true) {
        waiting = { for: 'client', since: clock.now() }
        const next = await nextOrStop(iterator, stop.signal)
        waitedForClientMs += clock.now() - waiting.since
        waiting = { for: 'reader', since: clock.now() }
        if (next.done) break
        const chunk = next.value
        bytes += chunk.length
        if (bytes > maxBytes) throw new UploadRefused(tooLarge(maxBytes, null))
        if (clock.now() >= endsAt) throw tookTooLong()
        hash.update(chunk)
        check(chunk)
        yield chunk
      }
      const sha256 = hash.digest('hex')
      // First: of bytes that were damaged on the way it means nothing what kind of image they are.
      if (announcedSha256 !== null && sha256 !== announcedSha256) throw otherDigest(sha256)
      check(null)
      sum = { sha256, bytes }
    } finally {
      // Not awaited: behind a read that waits for the client it would wait as well.
      iterator.return?.().catch(() => {})
    }
  }

  watch().catch(() => {})
  return {
    chunks: { [Symbol.asyncIterator]: chunks },
    sum() {
      if (!sum) throw new Error('the body was not read to its end')
      return sum
    },
    close: () => closed.abort(),
  }
}

/** The body's next chunk; rejects at once when `stop` aborts, though the body is never heard of again. */
function nextOrStop(
  iterator: AsyncIterator<Uint8Array>,
  stop: AbortSignal,
): Promise<IteratorResult<Uint8Array>> {
  // No Promise.race with one promise for the whole upload: that promise would keep every chunk alive until it settles.
  return new Promise((resolve, reject) => {
    if (stop.aborted) return reject(stop.reason)
    const stopped = () => reject(stop.reason)
    stop.addEventListener('abort', stopped, { once: true })
    iterator
      .next()
      .then(resolve, (cause) => reject(new UploadAborted('the body broke off', { cause })))
      .finally(() => stop.removeEventListener('abort', stopped))
  })
}

function otherDigest(sha256: string): UploadRefused {
  const found = Buffer.from(sha256, 'hex').toString('base64')
  const message = `the body’s sha-256 is ${found}, and not what the Content-Digest says`
  return new UploadRefused({ status: 422, code: 'content_digest_mismatch', message })
}

function timedOut(message: string): UploadRefused {
  return new UploadRefused({ status: 408, code: 'upload_timeout', message })
}
