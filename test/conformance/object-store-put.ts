import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import { type Bench, bytesOf, chunks, failing, hanging, uniqueKey } from './object-store-bench.ts'

/** Objects appear at once and whole, or not at all. */
export function putRules({ put, get }: Bench): void {
  it.each([0, 1, 65_536, 3_000_001])('keeps %i bytes, given whole', async (length) => {
    const bytes = randomBytes(length)
    const key = uniqueKey()
    await put({ key, body: bytes, bytes: length })
    expect(bytes.equals((await get(key))!)).toBe(true)
  })

  it.each([0, 1, 65_536, 3_000_001])('keeps %i bytes, streamed with their length', async (length) => {
    const bytes = randomBytes(length)
    const key = uniqueKey()
    await put({ key, body: chunks(bytes), bytes: length })
    expect(bytes.equals((await get(key))!)).toBe(true)
  })

  it.each([0, 1, 65_536, 12_000_001])('keeps %i bytes of a stream without a length', async (length) => {
    const bytes = randomBytes(length)
    const key = uniqueKey()
    await put({ key, body: chunks(bytes) })
    expect(bytes.equals((await get(key))!)).toBe(true)
  })

  it('replaces an object, and takes the same bytes again', async () => {
    const key = uniqueKey()
    for (const text of ['a longer first one', 'second', 'second']) await put({ key, body: bytesOf(text) })
    expect(String(await get(key))).toBe('second')
  })

  it('shows readers one object or the other, whole, while it is replaced', async () => {
    const key = uniqueKey()
    const bodies = ['a', 'b'].map((letter) => bytesOf(letter.repeat(300_000)))
    await put({ key, body: bodies[0]! })
    const writing = Promise.all(
      Array.from({ length: 10 }, (_, i) => put({ key, body: chunks(bodies[i % 2]!), bytes: 300_000 })),
    )
    for (let reads = 0; reads < 20; reads++) {
      const read = (await get(key))!
      expect(bodies.some((body) => body.equals(read))).toBe(true)
    }
    await writing
  })

  describe.each([
    ['with its length', 200_000],
    ['without a length', undefined],
  ])('of a stream %s', (_, length) => {
    const bytes = length === undefined ? {} : { bytes: length }

    it('passes on what the body throws, and leaves nothing under the key', async () => {
      const key = uniqueKey()
      // Like an error of the system that the store itself may meet.
      const error = Object.assign(new Error('reset'), { code: 'ECONNRESET', errno: -104, syscall: 'read' })
      await expect(put({ key, body: failing(100_000, error), ...bytes })).rejects.toBe(error)
      expect(await get(key)).toBeNull()
    })

    it('leaves nothing under the key when the body fails after its last byte', async () => {
      const key = uniqueKey()
      const error = new Error('the hash does not match')
      await expect(put({ key, body: failing(200_000, error), ...bytes })).rejects.toBe(error)
      expect(await get(key)).toBeNull()
    })

    it('keeps the object that was there when the body of its replacement fails', async () => {
      const key = uniqueKey()
      await put({ key, body: bytesOf('first') })
      await expect(put({ key, body: failing(100_000, new Error('no')), ...bytes })).rejects.toThrow('no')
      expect(String(await get(key))).toBe('first')
    })

    it('rejects with the signal’s reason amid a body that never goes on, and leaves nothing', async () => {
      const key = uniqueKey()
      const abort = new AbortController()
      const reason = new Error('enough')
      const body = hanging(100_000, () => abort.abort(reason))
      await expect(put({ key, body, ...bytes }, abort.signal)).rejects.toBe(reason)
      expect(await get(key)).toBeNull()
    })

    it('asks no byte of the body when the signal has aborted already', async () => {
      const reason = new Error('enough')
      const body = failing(0, new Error('it was asked'))
      await expect(put({ key: uniqueKey(), body, ...bytes }, AbortSignal.abort(reason))).rejects.toBe(reason)
    })
  })

  it.each([
    ['fewer bytes', 99_999],
    ['more bytes', 100_001],
    ['none of its bytes', 0],
  ])('refuses a body with %s than were announced, as no fault of the store’s', async (_, length) => {
    const key = uniqueKey()
    for (const body of [chunks(randomBytes(length)), randomBytes(length)]) {
      const failure = await put({ key, body, bytes: 100_000 }).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(Error)
      expect(failure).not.toBeInstanceOf(DependencyError)
      expect(await get(key)).toBeNull()
    }
  })
}
