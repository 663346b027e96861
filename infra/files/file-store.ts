import { randomUUID } from 'node:crypto'
import { mkdir, open, rm, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { ByteRange, ObjectStore, ObjectToPut, StoredObject } from '../../core/ports/object-store.ts'
import { guardedStream } from '../guarded-stream.ts'
import { fileFailure, ifPresent } from './file-failure.ts'
import { moveDurably, removeEmptyFolders, removeLeftovers, syncFolder } from './folders.ts'
import { keyPath } from './key-path.ts'
import { listKeys } from './list-keys.ts'
import { writeBody } from './write-body.ts'

/**
 * The `ObjectStore` port on files: an object lies at `<folder>/stored/<key>`, and is written under a name of its own in
 * `<folder>/incoming`. What a crash left there is removed at a later start. Any number of processes may share a folder.
 *
 * A key must not be the folder of another: `a` and `a/b` cannot both exist. The content type is not kept; the jobs'
 * table has it.
 *
 * @throws {DependencyError} when the folder cannot be made or read
 */
export async function openFileStore(folder: string): Promise<ObjectStore> {
  const stored = path.join(folder, 'stored')
  const incoming = path.join(folder, 'incoming')
  try {
    await mkdir(stored, { recursive: true })
    await mkdir(incoming, { recursive: true })
    await syncFolder(folder)
    await removeLeftovers(incoming)
  } catch (error) {
    throw fileFailure(`opening ${folder}`, error)
  }

  /** Runs one step of a call, its failures translated. */
  async function attempt<T>(step: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    try {
      signal.throwIfAborted()
      return await run()
    } catch (error) {
      throw fileFailure(step, error, signal)
    }
  }

  async function put(object: ObjectToPut, signal: AbortSignal): Promise<void> {
    const target = keyPath(stored, object.key)
    const temporary = path.join(incoming, randomUUID())
    // Step by step, because an error of the body's own is not to be translated, though it may look like the system's.
    const step = <T>(run: () => Promise<T>) => attempt(`storing ${object.key}`, signal, run)
    try {
      const file = await step(() => open(temporary, 'wx'))
      try {
        await writeBody(file, object, signal)
        await step(() => file.sync())
      } finally {
        await file.close()
      }
      await step(() => moveDurably(temporary, target, stored))
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
  }

  async function get(
    key: string,
    range: ByteRange | undefined,
    signal: AbortSignal,
  ): Promise<StoredObject | null> {
    const file = await ifPresent(open(keyPath(stored, key), 'r'))
    if (!file) return null
    try {
      const facts = await file.stat()
      if (!facts.isFile()) {
        await file.close()
        return null
      }
      const first = range?.first ?? 0
      const last = Math.min(range?.last ?? facts.size, facts.size - 1)
      if (range && first > last) {
        throw new RangeError(`${key} has ${facts.size} bytes, none of them from ${first} to ${range.last}`)
      }
      // A stream's `end` is inclusive, so that it cannot say "nothing" for an empty object.
      const body = file.createReadStream(facts.size === 0 ? { start: 0 } : { start: first, end: last })
      return {
        bytes: last - first + 1,
        body: guardedStream(addAbortSignal(signal, body), (error) =>
          fileFailure(`reading ${key}`, error, signal),
        ),
      }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async function remove(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const changed = new Set<string>()
    for (const key of keys) {
      signal.throwIfAborted()
      const target = keyPath(stored, key)
      const removed = await ifPresent(unlink(target).then(() => true))
      if (removed) changed.add(await removeEmptyFolders(path.dirname(target), stored))
    }
    // Or a power cut would bring the files back. A folder that has gone since went in another call, which syncs for it.
    for (const folder of changed) await ifPresent(syncFolder(folder))
  }

  return {
    put,
    get: (key, { range }, signal) => attempt(`reading ${key}`, signal, () => get(key, range, signal)),
    delete: (keys, signal) => attempt(`deleting ${keys.length} objects`, signal, () => remove(keys, signal)),
    list: ({ prefix, after = '' }, signal) =>
      attempt(`listing ${prefix}`, signal, async () => {
        const found: { key: string; modifiedAt: Date }[] = []
        for await (const key of listKeys(stored, { prefix, after })) {
          signal.throwIfAborted()
          const facts = await ifPresent(stat(path.join(stored, key)))
          if (facts) found.push({ key, modifiedAt: facts.mtime })
          if (found.length === PAGE) break
        }
        return found
      }),
  }
}

const PAGE = 1_000
