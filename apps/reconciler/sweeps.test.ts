import { expect, test } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { DEFAULT_TIMING } from '../../core/timing.ts'
import { createJobSweep } from './sweeps.ts'

const GRACE_MS = DEFAULT_TIMING.graceMs

test('after a turn that the database did not answer, nothing is rescued until it has answered for the grace', async () => {
  const { turn, rescues, at, setAnswering } = createSweep()
  await turn()
  at(GRACE_MS)
  await turn()
  expect(rescues()).toBe(1)

  setAnswering(false)
  at(2 * GRACE_MS)
  await expect(turn()).rejects.toThrow(DependencyError)
  setAnswering(true)
  at(3 * GRACE_MS)
  await turn()
  at(4 * GRACE_MS - 1)
  await turn()
  expect(rescues()).toBe(1)
  at(4 * GRACE_MS)
  await turn()
  expect(rescues()).toBe(2)
})

test('a sweep that has just started rescues nothing before it has seen the database answer for the grace', async () => {
  const { turn, rescues, at } = createSweep()
  await turn()
  at(GRACE_MS - 1)
  await turn()
  expect(rescues()).toBe(0)
})

function createSweep() {
  let now = 0
  let answering = true
  let rescues = 0
  const jobs = {
    async republishLost() {
      if (!answering) throw new DependencyError('database', 'not answered')
      return []
    },
    async rescue() {
      rescues += 1
      return []
    },
    expire: async () => [],
  } as Partial<Jobs> as Jobs
  const turn = createJobSweep({
    jobs,
    clock: { now: () => now, sleep: async () => {} },
    timing: DEFAULT_TIMING,
    budget: 5,
    queueIsEmpty: async () => false,
    log: { debug() {}, info() {}, warn() {}, error() {} },
  })
  return {
    turn,
    rescues: () => rescues,
    at: (ms: number) => {
      now = ms
    },
    setAnswering: (value: boolean) => {
      answering = value
    },
  }
}
