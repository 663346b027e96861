import { describe, expect, it } from 'vitest'
import { type Bench, bytesOf, type Deviation, uniqueKey } from './object-store-bench.ts'

/** Deleting and listing. */
export function keyRules(
  { put, get, delete: remove, list, keysOf }: Bench,
  deviations: readonly Deviation[],
): void {
  describe('delete', () => {
    it('deletes the objects it is given, and minds none that is missing', async () => {
      const folder = uniqueKey()
      const keys = ['a', 'b/c@1', 'b/d', 'e'].map((name) => `${folder}/${name}`)
      for (const key of keys) await put({ key, body: bytesOf(key) })
      await remove([keys[0]!, `${folder}/none`, keys[1]!, `${folder}/b`])
      expect(await keysOf(`${folder}/`)).toEqual([keys[2], keys[3]])
      await remove(keys)
      expect(await keysOf(`${folder}/`)).toEqual([])
    })

    it('deletes nothing of an empty list', async () => {
      await remove([])
    })

    it('leaves the key free to be used again', async () => {
      const key = `${uniqueKey()}/x`
      await put({ key, body: bytesOf('first') })
      await remove([key])
      await put({ key, body: bytesOf('second') })
      expect(String(await get(key))).toBe('second')
    })
  })

  describe('list', () => {
    it('gives the keys of a prefix in order, with the times of their objects', async () => {
      const folder = uniqueKey()
      const keys = ['a/b', 'a/b@2', 'a/c/d', 'a0', 'b1'].map((name) => `${folder}/${name}`)
      for (const key of keys.toReversed()) await put({ key, body: bytesOf(key) })
      expect(await keysOf(`${folder}/`)).toEqual(keys)
      expect(await keysOf(`${folder}/a`)).toEqual(keys.slice(0, 4))
      expect(await keysOf(`${folder}/a/`)).toEqual(keys.slice(0, 3))
      expect(await keysOf(`${folder}/a/b@`)).toEqual([`${folder}/a/b@2`])
      expect(await keysOf(`${folder}/none`)).toEqual([])
      for (const { modifiedAt } of await list(folder)) {
        expect(Math.abs(Date.now() - modifiedAt.getTime())).toBeLessThan(600_000)
      }
    })

    it('orders keys by their bytes', { fails: deviations.includes('sorts by locale') }, async () => {
      const folder = uniqueKey()
      const keys = ['A', 'B/c', 'a-b', 'a.b', 'a/b', 'a0', 'a@b', 'aa'].map((name) => `${folder}/${name}`)
      for (const key of keys.toReversed()) await put({ key, body: bytesOf(key) })
      expect(await keysOf(`${folder}/`)).toEqual(keys)
      for (const [i, key] of keys.entries())
        expect(await keysOf(`${folder}/`, key)).toEqual(keys.slice(i + 1))
    })

    it('goes on after a key, whether that has an object or not', async () => {
      const folder = uniqueKey()
      const keys = ['a/1', 'a/2', 'b', 'c/1'].map((name) => `${folder}/${name}`)
      for (const key of keys) await put({ key, body: bytesOf(key) })
      expect(await keysOf(`${folder}/`, `${folder}/a/1`)).toEqual(keys.slice(1))
      expect(await keysOf(`${folder}/`, `${folder}/a/1x`)).toEqual(keys.slice(1))
      expect(await keysOf(`${folder}/`, `${folder}/a`)).toEqual(keys)
      expect(await keysOf(`${folder}/`, `${folder}/b`)).toEqual(keys.slice(3))
      expect(await keysOf(`${folder}/`, `${folder}/c/1`)).toEqual([])
      expect(await keysOf(`${folder}/`, '')).toEqual(keys)
    })

    it('gives a thousand at a time', async () => {
      const folder = uniqueKey()
      const keys = Array.from({ length: 1_003 }, (_, i) => `${folder}/${String(i).padStart(4, '0')}`)
      const left = keys.values()
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          for (const key of left) await put({ key, body: bytesOf('x') })
        }),
      )
      expect(await keysOf(`${folder}/`)).toEqual(keys.slice(0, 1_000))
      expect(await keysOf(`${folder}/`, keys[999])).toEqual(keys.slice(1_000))
      await remove(keys.slice(0, 1_000))
      expect(await keysOf(`${folder}/`)).toEqual(keys.slice(1_000))
    })
  })
}
