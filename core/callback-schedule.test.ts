import { expect, test } from 'vitest'
import { judgeSend, MAX_SENDS, type SendOutcome } from './callback-schedule.ts'

const at = (uniform: number) => ({
  uniform: () => uniform,
  bytes: (length: number) => new Uint8Array(length),
})
const answered = (statusCode: number, retryAfterMs: number | null = null): SendOutcome => ({
  ...{ kind: 'answered', statusCode, retryAfterMs },
})
const FAILED: SendOutcome = { kind: 'failed', error: 'timeout' }

test('the waits are 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, and then it is given up', () => {
  const verdicts = Array.from({ length: MAX_SENDS }, (_, i) => judgeSend(at(0), FAILED, i + 1))
  expect(
    verdicts.map((verdict) => (verdict.state === 'PENDING' ? verdict.delayMs / 1_000 : verdict.state)),
  ).toEqual([...[5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400], 'GIVEN_UP'])
})

test('a wait is up to a fifth longer, and never shorter', () => {
  expect(judgeSend(at(0.5), FAILED, 1)).toEqual({ state: 'PENDING', delayMs: 5_500 })
  expect(judgeSend(at(0.999_999), FAILED, 1)).toEqual({ state: 'PENDING', delayMs: 6_000 })
})

test.each([200, 201, 202, 204, 299])('%i is success', (statusCode) => {
  expect(judgeSend(at(0), answered(statusCode), 1)).toEqual({ state: 'DELIVERED' })
})

test.each([199, 300, 301, 302, 304, 307, 308, 400, 404, 409, 429, 500, 503])(
  '%i is failure, and is tried again',
  (statusCode) => {
    expect(judgeSend(at(0), answered(statusCode), 1)).toEqual({ state: 'PENDING', delayMs: 5_000 })
  },
)

test('410 disables the receiver, the last time as well as the first', () => {
  expect(judgeSend(at(0), answered(410), 1)).toEqual({ state: 'DISABLED' })
  expect(judgeSend(at(0), answered(410), MAX_SENDS)).toEqual({ state: 'DISABLED' })
})

test('a Retry-After puts the next time off, never forward, and by a day at most', () => {
  expect(judgeSend(at(0), answered(503, 60_000), 1)).toEqual({ state: 'PENDING', delayMs: 60_000 })
  expect(judgeSend(at(0), answered(503, 60_000), 2)).toEqual({ state: 'PENDING', delayMs: 300_000 })
  expect(judgeSend(at(0), answered(503, 1e12), 1)).toEqual({ state: 'PENDING', delayMs: 86_400_000 })
})

test('a callback that was sent more often than it should have been, by senders that died, is given up', () => {
  expect(judgeSend(at(0), FAILED, MAX_SENDS + 3)).toEqual({ state: 'GIVEN_UP' })
})
