import { describe, expect, test } from 'vitest'
import { shareReads } from './auth-shared-reads.ts'

/** A read that ends when it is told to, with the number of reads begun by then. */
function slowRead() {
  const ends: ((error?: Error) => void)[] = []
  const read = (_key: string) => {
    const value = ends.length + 1
    return new Promise<number>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve(value)))
    })
  }
  return { read, ends }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('shared reads', () => {
  test('give nobody what was read by a read that began before it asked', async () => {
    const { read, ends } = slowRead()
    const shared = shareReads(read)
    const first = shared('k')
    const later = [shared('k'), shared('k'), shared('k')]
    expect(ends).toHaveLength(1)
    ends[0]!()
    expect(await first).toBe(1)
    await turn()
    expect(ends).toHaveLength(2)
    const last = shared('k')
    ends[1]!()
    expect(await Promise.all(later)).toEqual([2, 2, 2])
    await turn()
    ends[2]!()
    expect(await last).toBe(3)
  })

  test('of different keys do not wait for each other', async () => {
    const { read, ends } = slowRead()
    const shared = shareReads(read)
    const [a, b] = [shared('a'), shared('b')]
    expect(ends).toHaveLength(2)
    ends[1]!()
    expect(await b).toBe(2)
    ends[0]!()
    expect(await a).toBe(1)
  })

  test('fail for those who shared it alone', async () => {
    const { read, ends } = slowRead()
    const shared = shareReads(read)
    const first = shared('k')
    const second = shared('k')
    ends[0]!(new Error('down'))
    await expect(first).rejects.toThrow('down')
    await turn()
    ends[1]!()
    expect(await second).toBe(2)
    const third = shared('k')
    ends[2]!()
    expect(await third).toBe(3)
  })
})
