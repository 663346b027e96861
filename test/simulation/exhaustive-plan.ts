import { DEFAULT_TIMING } from '../../core/timing.ts'
import { FAULT_NAMES, type Fault } from './faults.ts'
import { oneJob, type Scenario } from './scenario.ts'

export interface ExhaustivePart {
  name: string
  scenario: Scenario
  faults: readonly Fault[]
  /** Faults in one run, at most. */
  depth: number
  /** Only among the first so many calls. */
  calls?: number
  /** Takes minutes. */
  thorough?: boolean
}

const CRASHES = ['crash_before', 'crash_after'] as const

/** One job, with polls so rare that most calls belong to it. No placement may fail its image, or lose a promise. */
function story(sweepers: number): Scenario {
  return oneJob('exhaustive', {
    timing: { ...DEFAULT_TIMING, relayPollMs: 20_000, sweepMs: 60_000 },
    sweepers,
    promise: 'few_faults',
  })
}

export const EXHAUSTIVE: readonly ExhaustivePart[] = [
  { name: 'one fault of any kind, healers on', scenario: story(1), faults: FAULT_NAMES, depth: 1 },
  { name: 'one fault of any kind, healers off', scenario: story(0), faults: FAULT_NAMES, depth: 1 },
  { name: 'two crashes, healers off', scenario: story(0), faults: CRASHES, depth: 2 },
  { name: 'two crashes, healers on', scenario: story(1), faults: CRASHES, depth: 2 },
  {
    name: 'three crashes within the first 24 calls',
    scenario: story(0),
    faults: CRASHES,
    depth: 3,
    calls: 24,
  },
  {
    name: 'two faults of any kind, healers off',
    scenario: story(0),
    faults: FAULT_NAMES,
    depth: 2,
    thorough: true,
  },
]
