import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ObjectStore } from '../../../core/ports/object-store.ts'

export interface MemoryObjectStore extends ObjectStore {
  /** The object's bytes and SHA-256 (hexadecimal), for whoever checks; null if there is none. */
  look(key: string): { bytes: number; sha256: string } | null
  keys(): string[]
}

interface Stored {
  body: Buffer
  sha256: string
  modifiedAt: number
}

/** @param now the store's clock, in milliseconds */
export function createMemoryObjectStore(now: () => number): MemoryObjectStore {
  const objects = new Map<string, Stored>()
  return {
    async put({ key, body, bytes }, signal) {
      signal.throwIfAborted()
      const whole = await orAborted(collect(body), signal)
      if (bytes !== undefined && whole.length !== bytes) {
        throw new Error(`the body has ${whole.length} bytes, not ${bytes} as was said`)
      }
      const sha256 = createHash('sha256').update(whole).digest('hex')
      objects.set(key, { body: whole, sha256, modifiedAt: now() })
    },
    async get(key, { range }, signal) {
      signal.throwIfAborted()
      const object = objects.get(key)
      if (!object) return null
      if (range && range.first >= object.body.length) {
        throw new RangeError(
          `the range begins at ${range.first}, and the object has ${object.body.length} bytes`,
        )
      }
      const body = range ? object.body.subarray(range.first, range.last + 1) : object.body
      const stream = Readable.from(body.length === 0 ? [] : [body])
      // A body that nobody reads any more has nobody to tell.
      stream.on('error', () => {})
      signal.addEventListener('abort', () => stream.destroy(signal.reason), { once: true })
      return { bytes: body.length, body: stream }
    },
    async delete(keys, signal) {
      signal.throwIfAborted()
      if (keys.length > 1_000) throw new RangeError(`a delete takes 1,000 keys at most, not ${keys.length}`)
      for (const key of keys) objects.delete(key)
    },
    async list({ prefix, after }, signal) {
      signal.throwIfAborted()
      return [...objects]
        .filter(([key]) => key.startsWith(prefix) && (after === undefined || key > after))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, 1_000)
        .map(([key, { modifiedAt }]) => ({ key, modifiedAt: new Date(modifiedAt) }))
    },
    keys: () => [...objects.keys()],
    look(key) {
      const object = objects.get(key)
      return object ? { bytes: object.body.length, sha256: object.sha256 } : null
    },
  }
}

/** Settles as `work` does, or at once with the signal's reason: a body may never come to its end. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}

/** All of a body. What the body throws is passed on unchanged. */
export async function collect(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
