import { orAborted } from '../core/or-aborted.ts'
import type { ObjectToPut } from '../core/ports/object-store.ts'

/** The body of an object on its way into a store. */
export interface ObjectBody {
  /** To be read once. Leaves the body when it is left, and as soon as the signal aborts. */
  chunks: AsyncGenerator<Uint8Array, void, undefined>
  /**
   * What is to be thrown instead of the store's own failure: the body's error as it was thrown, or that it had other
   * bytes than were announced. Null while the body is not at fault.
   */
  fault(): { error: unknown } | null
}

/**
 * Reads the body of a put for a store that streams it.
 *
 * Each chunk is given one step late, and so the last one only once the body has ended as it was announced: a store that
 * was told the length takes the object for complete with its last byte, and a body that fails after it (by a hash that
 * does not match, say) would stand under its key already.
 */
export function readObjectBody({ key, body, bytes }: ObjectToPut, signal: AbortSignal): ObjectBody {
  const source: AsyncIterator<Uint8Array> =
    body instanceof Uint8Array ? only(body) : body[Symbol.asyncIterator]()
  let count = 0
  let fault: { error: unknown } | null = null

  async function pull(): Promise<Uint8Array | null> {
    try {
      const step = await orAborted(source.next(), signal)
      if (!step.done) count += step.value.byteLength
      if (bytes !== undefined && (count > bytes || (step.done && count < bytes))) {
        throw new Error(
          `the body of ${key} has ${count}${step.done ? '' : ' or more'} bytes, not ${bytes} as was announced`,
        )
      }
      return step.done ? null : step.value
    } catch (error) {
      if (!signal.aborted) fault = { error }
      throw error
    }
  }

  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      let held = await pull()
      while (held) {
        const next = await pull()
        yield held
        held = next
      }
    } finally {
      // Not waited for: a body that hangs answers this only when it goes on.
      source.return?.().catch(() => {})
    }
  }

  return { chunks: chunks(), fault: () => fault }
}

async function* only(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}
