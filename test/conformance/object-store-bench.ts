import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { ByteRange, ObjectStore, ObjectToPut } from '../../core/ports/object-store.ts'

/** Rules of S3 that an emulator of it may not follow; the tests of those have to fail there. */
export type Deviation =
  /** Orders keys as people of some country do, not by their bytes. */
  'sorts by locale'

export type Bench = ReturnType<typeof createBench>

/** The calls of the port, with a signal that only ends what hangs. */
export function createBench(opened: () => ObjectStore) {
  return {
    put: (object: Omit<ObjectToPut, 'contentType'>, signal = patience()) =>
      opened().put({ ...object, contentType: 'image/png' }, signal),

    async get(key: string, range?: ByteRange): Promise<Buffer | null> {
      const object = await opened().get(key, range ? { range } : {}, patience())
      if (!object) return null
      const bytes = Buffer.concat(await object.body.toArray())
      expect(bytes.byteLength).toBe(object.bytes)
      return bytes
    },

    open: (key: string, signal = patience()) => opened().get(key, {}, signal),

    delete: (keys: readonly string[], signal = patience()) => opened().delete(keys, signal),

    list: (prefix: string, signal = patience()) => opened().list({ prefix }, signal),

    async keysOf(prefix: string, after?: string): Promise<string[]> {
      const page = { prefix, ...(after === undefined ? {} : { after }) }
      return (await opened().list(page, patience())).map(({ key }) => key)
    },
  }
}

function patience(): AbortSignal {
  return AbortSignal.timeout(50_000)
}

/** As the service makes them, with "/" and "@". */
export function uniqueKey(): string {
  return `outputs/img_${randomBytes(6).toString('hex')}/thumbnail@sharp-0.35.5`
}

export function bytesOf(text: string): Buffer {
  return Buffer.from(text)
}

export async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += 65_536) yield bytes.subarray(from, from + 65_536)
}

export async function* failing(after: number, error: Error): AsyncGenerator<Uint8Array> {
  yield* chunks(randomBytes(after))
  throw error
}

export async function* hanging(after: number, hung: () => void): AsyncGenerator<Uint8Array> {
  yield* chunks(randomBytes(after))
  setImmediate(hung)
  await new Promise(() => {})
}
