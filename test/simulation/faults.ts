import type { SeededRandom } from './seeded-random.ts'
import type { Actor } from './simulated-process.ts'

/** What can go wrong with one call of a port, by name. */
export const FAULTS = {
  crash_before: 'the process dies before the call is sent',
  crash_after: 'the call has its effect, and the process dies before it hears of it',
  lost_reply: 'the call has its effect, and the caller sees an error',
  unavailable: 'the call has no effect, and the caller sees an error',
  hang_done: 'the call has its effect, and no answer ever comes',
  hang_undone: 'the call has no effect, and no answer ever comes',
  late: 'the caller sees an error, and long afterwards the call has its effect',
  freeze_before: 'the process stands still before the call is sent: it wakes as a zombie and sends it',
  freeze_after: 'the call has its effect, and the process stands still before it hears of it',
  refused_entry: 'one entry of the batch fails, the others notwithstanding',
  refused_for_good: 'one message of the batch is one that the broker will never take',
} as const

export type Fault = keyof typeof FAULTS
export const FAULT_NAMES = Object.keys(FAULTS) as Fault[]

/** A port's method, such as `jobs.claim`. */
export type Step = `${'jobs' | 'queue' | 'deadLetters' | 'store' | 'renderer' | 'moderator'}.${string}`

/** One call of one process; `index` counts the calls of the whole run. */
export interface CallSite {
  actor: Actor
  step: Step
  index: number
}

/** Decides, call by call, what goes wrong. */
export type FaultPlan = (site: CallSite) => Fault | null

export const noFaults: FaultPlan = () => null

/** Which call of the run meets which fault. */
export type Placement = readonly (readonly [call: number, fault: Fault])[]

/** Faults at the calls that the placement names, nothing elsewhere. */
export function placedFaults(placement: Placement): FaultPlan {
  const placed = new Map(placement)
  return ({ index }) => placed.get(index) ?? null
}

/** Faults by chance, each with a rate per call, while `active`. */
export function randomFaults(
  random: SeededRandom,
  rates: Partial<Record<Fault, number>>,
  active: () => boolean,
): FaultPlan {
  const drawn = Object.entries(rates) as [Fault, number][]
  return (site) => {
    if (!active()) return null
    for (const [fault, rate] of drawn) {
      if (applies(fault, site.step) && random.chance(Math.min(0.4, rate * weight(fault, site)))) return fault
    }
    return null
  }
}

/** Polls come all the time, the steps of a job's way once: as many faults are to fall on the one as on the other. */
function weight(fault: Fault, { actor, step }: CallSite): number {
  const call = `${actor} ${step}`
  if (POLLS.test(call)) return 0.4
  if (RARE.test(call)) return 20
  return fault.startsWith('refused') ? 10 : 3
}

const POLLS = /\.(claimOutbox|receive|depth|list|republishLost|buryFinished)$|^api jobs\.find$/
const RARE =
  /\.(forget|confirmObjectsGone|bury|refusePublication|parkMessage)$|^worker jobs\.find$|^sweeper deadLetters\.changeVisibility$/

/** Whether the step can meet the fault at all: the renderer has no network, and only batches have entries. */
export function applies(fault: Fault, step: Step): boolean {
  if (fault === 'refused_for_good') return step === 'queue.send'
  if (fault === 'refused_entry') return /^(queue|deadLetters)\.(send|changeVisibility|delete)$/.test(step)
  if (step.startsWith('renderer.')) return /^(crash|freeze)_/.test(fault)
  return true
}
