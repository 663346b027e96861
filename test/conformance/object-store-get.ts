import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { type Bench, bytesOf, uniqueKey } from './object-store-bench.ts'

/** Bodies, ranges, and how reading ends. */
export function getRules({ put, get, open }: Bench): void {
  it('answers null where there is no object', async () => {
    const key = uniqueKey()
    expect(await get(key)).toBeNull()
    expect(await get(key, { first: 0, last: 9 })).toBeNull()
    await put({ key: `${key}/below`, body: bytesOf('x') })
    expect(await get(key)).toBeNull()
    expect(await get(`${key}/below/that`)).toBeNull()
  })

  it.each([
    [{ first: 0, last: 0 }, '0'],
    [{ first: 3, last: 5 }, '345'],
    [{ first: 8, last: 9 }, '89'],
    [{ first: 8, last: 1_000 }, '89'],
    [{ first: 0, last: 9 }, '0123456789'],
  ])('gives the range %o, as far as there is one', async (range, expected) => {
    const key = uniqueKey()
    await put({ key, body: bytesOf('0123456789') })
    expect(String(await get(key, range))).toBe(expected)
  })

  it('refuses a range of which there is no byte', async () => {
    const key = uniqueKey()
    await put({ key, body: bytesOf('0123456789') })
    await expect(get(key, { first: 10, last: 12 })).rejects.toThrow(RangeError)
  })

  it('ends a body that is being read when the signal aborts, with its reason', async () => {
    const key = uniqueKey()
    await put({ key, body: randomBytes(5_000_000) })
    const abort = new AbortController()
    const reason = new Error('enough')
    const object = (await open(key, abort.signal))!
    await expect(
      (async () => {
        for await (const _ of object.body) abort.abort(reason)
      })(),
    ).rejects.toBe(reason)
  })

  it('leaves a body that nobody reads on', async () => {
    const key = uniqueKey()
    await put({ key, body: randomBytes(5_000_000) })
    const object = (await open(key))!
    for await (const _ of object.body) break
    expect(object.body.destroyed).toBe(true)
  })
}
