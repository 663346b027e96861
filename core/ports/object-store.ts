import type { Readable } from 'node:stream'

/**
 * Objects under keys: read after write, whole objects only. A write becomes visible at once and completely, or not at
 * all. Every call has a deadline in its `signal`; one that rejects with a {@link DependencyError} may have had its
 * effect.
 */
export interface ObjectStore {
  /**
   * Stores `body` under `key` and resolves once it is durable. The same key and bytes may be written again.
   * `bytes` is the body's length when it is known beforehand: a body that turns out otherwise is an error.
   * Errors that `body` itself throws are passed on unchanged, and leave nothing under the key.
   */
  put(object: ObjectToPut, signal: AbortSignal): Promise<void>

  /** The object, or the `range` of it (inclusive, as in HTTP), as a stream; null if there is none. */
  get(key: string, options: { range?: ByteRange }, signal: AbortSignal): Promise<StoredObject | null>

  /** Deletes 0–1,000 objects; a key that has none is no error. */
  delete(keys: readonly string[], signal: AbortSignal): Promise<void>

  /** Up to 1,000 objects whose keys begin with `prefix`, in the keys' order, after the key `after`. */
  list(
    options: { prefix: string; after?: string },
    signal: AbortSignal,
  ): Promise<{ key: string; modifiedAt: Date }[]>
}

export interface ObjectToPut {
  key: string
  body: AsyncIterable<Uint8Array> | Uint8Array
  bytes?: number
  contentType: string
}

export interface StoredObject {
  /** Of this body: the range's length where a range was asked for. */
  bytes: number
  body: Readable
}

export interface ByteRange {
  first: number
  last: number
}
