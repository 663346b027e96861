import { describe, expect, test } from 'vitest'
import { createBuckets } from './rate-bucket.ts'

const LIMITS = { ratePerSecond: 2, burst: 4 }

function withClock() {
  const clock = { ms: 1_000_000, now: () => clock.ms, sleep: () => Promise.reject(new Error('never')) }
  return { clock, take: createBuckets(clock) }
}

describe('a token bucket', () => {
  test('lets a burst through, then as many as the rate gives back', () => {
    const { clock, take } = withClock()
    const first = Array.from({ length: 5 }, () => take('a', LIMITS))
    expect(first.map(({ ok }) => ok)).toEqual([true, true, true, true, false])
    expect(first.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0, 0])
    expect(first.at(-1)).toMatchObject({ retryInSeconds: 1, fullInSeconds: 2 })
    clock.ms += 500
    expect([take('a', LIMITS).ok, take('a', LIMITS).ok]).toEqual([true, false])
    clock.ms += 60_000
    expect(take('a', LIMITS)).toMatchObject({ ok: true, remaining: 3 })
  })

  test('says when it lets the next one through: then it does', () => {
    const { clock, take } = withClock()
    const slow = { ratePerSecond: 0.1, burst: 1 }
    expect(take('a', slow).ok).toBe(true)
    const { ok, retryInSeconds } = take('a', slow)
    expect([ok, retryInSeconds]).toEqual([false, 10])
    clock.ms += retryInSeconds * 1_000
    expect(take('a', slow).ok).toBe(true)
  })

  test('is one tenant’s own', () => {
    const { take } = withClock()
    for (let i = 0; i < 10; i++) take('a', LIMITS)
    expect(take('b', LIMITS)).toMatchObject({ ok: true, remaining: 3 })
  })

  test('gives and takes nothing when the clock is set back', () => {
    const { clock, take } = withClock()
    take('a', LIMITS)
    clock.ms -= 3_600_000
    expect(take('a', LIMITS).remaining).toBe(2)
    clock.ms += 500
    expect(take('a', LIMITS).remaining).toBe(2)
  })

  test('follows limits that have changed', () => {
    const { take } = withClock()
    take('a', { ratePerSecond: 100, burst: 100 })
    expect(take('a', LIMITS).remaining).toBe(3)
  })
})
