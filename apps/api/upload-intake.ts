import { createHash } from 'node:crypto'
import { DependencyError } from '../../core/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Timing } from '../../core/timing.ts'
import { tooLarge, UploadAborted, UploadRefused } from './refusal.ts'

export interface IntakeRules {
  limits: Pick<Limits, 'maxBytes'>
  /**
   * `uploadMs` is the longest that the whole body may take; `storeCallMs` the longest wait for the reader to take the
   * next bytes, and after the last ones to be done with them.
   */
  timing: Pick<Timing, 'uploadMs' | 'storeCallMs'>
  /** The longest wait for the client's next bytes, in milliseconds. */
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
 * @param stop aborted by the watch, with what ends the upload; aborted by anybody else, it ends the body as well
 */
export function openIntake(
  clock: Clock,
  { limits: { maxBytes }, timing: { uploadMs, storeCallMs }, idleMs }: IntakeRules,
  body: AsyncIterable<Uint8Array>,
  check: (chunk: Uint8Array | null) => void,
  stop: AbortController,
): Intake {
  const hash = createHash('sha256')
  const closed = new AbortController()
  const endsAt = clock.now() + uploadMs
  let bytes = 0
  let sum: { sha256: string; bytes: number } | null = null
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
      } else if (waiting.for === 'reader' && waitedMs >= storeCallMs) {
        stop.abort(new DependencyError('object_store', `the store took nothing for ${storeCallMs} ms`))
      }
    }
  }

  const tookTooLong = () => timedOut(`an upload may take ${uploadMs} ms`)

  async function* chunks(): AsyncGenerator<Uint8Array> {
    const iterator = body[Symbol.asyncIterator]()
    try {
      while (true) {
        waiting = { for: 'client', since: clock.now() }
        const next = await nextOrStop(iterator, stop.signal)
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
      check(null)
      sum = { sha256: hash.digest('hex'), bytes }
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

function timedOut(message: string): UploadRefused {
  return new UploadRefused({ status: 408, code: 'upload_timeout', message })
}
