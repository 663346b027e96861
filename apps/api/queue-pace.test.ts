import { describe, expect, it } from 'vitest'
import type { QueuePace } from '../../core/ports/jobs.ts'
import { createPace, expectedMs, type Waiting } from './queue-pace.ts'

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms)
const QUIET: QueuePace = {
  ...{ ended: 0, withinMs: 0, workMs: 500, running: 0, waiting: 0 },
  ...{ oldestDueAt: null, newestDueAt: null, oldestWaitedMs: 0 },
}
/** A hundred jobs in ten seconds, and a backlog of six hundred. */
const BUSY: QueuePace = {
  ...{ ended: 100, withinMs: 10_000, workMs: 400, running: 4, waiting: 600 },
  ...{ oldestDueAt: at(0), newestDueAt: at(60_000), oldestWaitedMs: 60_000 },
}
const queued = (dueMs: number, claimableInMs = 0): Waiting => ({
  ...{ status: 'QUEUED', claimableInMs },
  runAt: at(dueMs),
})

describe('what a job has to wait', () => {
  it('is its own work, where nothing is before it', () => {
    expect(expectedMs(QUIET, queued(0))).toBe(500)
    expect(expectedMs(BUSY, { ...queued(0), status: 'RUNNING' })).toBe(400)
    expect(expectedMs(BUSY, queued(0))).toBe(400)
  })

  it('grows with the number of jobs before it, at the rate at which they go', () => {
    expect(expectedMs(BUSY, queued(60_000))).toBeCloseTo(60_400)
    expect(expectedMs(BUSY, queued(30_000))).toBeCloseTo(30_400)
    expect(expectedMs({ ...BUSY, ended: 1_000 }, queued(60_000))).toBeCloseTo(6_400)
  })

  it('is not drawn out by an idle time before a burst', () => {
    const burst = { ...BUSY, ended: 1, withinMs: 600_000, waiting: 10 }
    expect(expectedMs(burst, queued(60_000))).toBeCloseTo(10 / (4 / 400) + 400)
  })

  it('goes on for as long as it has, where nothing runs', () => {
    expect(expectedMs({ ...BUSY, running: 0, ended: 0 }, queued(0))).toBe(60_400)
  })

  it('is no less than what a job is put off for', () => {
    expect(expectedMs(QUIET, queued(0, 7_500))).toBe(8_000)
  })
})

describe('Retry-After', () => {
  const clock = { now: () => now, sleep: () => new Promise<void>(() => {}) }
  let now = 0

  it('measures once a second at most, however many ask, and stays between 1 and 60', async () => {
    let measured = 0
    const pace = createPace({
      clock,
      jobs: {
        async queuePace() {
          measured++
          return BUSY
        },
      },
    })
    const answers = await Promise.all(Array.from({ length: 100 }, () => pace.retryAfterSeconds(queued(0))))
    expect(new Set(answers)).toEqual(new Set([1]))
    expect(measured).toBe(1)
    expect(await pace.retryAfterSeconds(queued(60_000))).toBe(60)
    expect(await pace.retryAfterSeconds(queued(15_000))).toBe(16)
    now += 1_000
    await pace.retryAfterSeconds(queued(0))
    expect(measured).toBe(2)
  })

  it('is told though nothing can be measured', async () => {
    const pace = createPace({ clock, jobs: { queuePace: () => Promise.reject(new Error('no answer')) } })
    expect(await pace.retryAfterSeconds(queued(0))).toBe(1)
  })
})
