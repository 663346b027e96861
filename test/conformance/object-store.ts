import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import { bytesOf, createBench, type Deviation, uniqueKey } from './object-store-bench.ts'
import { getRules } from './object-store-get.ts'
import { keyRules } from './object-store-keys.ts'
import { putRules } from './object-store-put.ts'

/** What the suite needs of an implementation; opened once, and empty: each test has keys of its own. */
export interface ObjectStoreUnderTest {
  store: ObjectStore
  close(): Promise<void>
}

/** Every rule of the `ObjectStore` port, as tests of one implementation. */
export function objectStoreConformance(
  name: string,
  open: () => Promise<ObjectStoreUnderTest>,
  deviations: readonly Deviation[] = [],
): void {
  describe(`ObjectStore on ${name}`, () => {
    let opened: ObjectStoreUnderTest
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.close())

    const bench = createBench(() => opened.store)
    describe('put', () => putRules(bench))
    describe('get', () => getRules(bench))
    describe('keys', () => keyRules(bench, deviations))

    it('rejects every call with the signal’s reason when that has aborted already', async () => {
      const reason = new Error('enough')
      const aborted = AbortSignal.abort(reason)
      const { put, get, open, delete: remove, list } = bench
      const key = uniqueKey()
      await expect(put({ key, body: bytesOf('x') }, aborted)).rejects.toBe(reason)
      await expect(open(key, aborted)).rejects.toBe(reason)
      await expect(remove([key], aborted)).rejects.toBe(reason)
      await expect(list(key, aborted)).rejects.toBe(reason)
      expect(await get(key)).toBeNull()
    })
  })
}
