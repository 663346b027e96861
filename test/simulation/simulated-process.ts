import type { Clock } from '../../core/ports/clock.ts'
import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { Trace } from './trace.ts'
import { createVirtualClock } from './virtual-clock.ts'

export type Actor = 'api' | 'relay' | 'worker' | 'sweeper'

/**
 * One life of one process. Killed, none of its pending promises ever settles and none of its calls does anything any
 * more; a restart is a new process. Frozen, it stands still while the world goes on, and finds its timers and answers
 * waiting when it wakes: a zombie.
 */
export interface SimulatedProcess {
  readonly actor: Actor
  /** Such as `worker-1#3`: the third life of the first worker. */
  readonly name: string
  readonly clock: Clock
  readonly random: SeededRandom
  alive(): boolean
  frozen(): boolean
  /** Whether it was told to stop. */
  stopping(): boolean
  /** To be called when it is told to stop. */
  stop(): void
  kill(why: string): void
  freeze(ms: number): void
  /** Lets something reach the process: now, when it wakes, or never. */
  deliver(arrival: () => void): void
  /** Calls back when it is killed. */
  onDeath(listener: () => void): void
  offDeath(listener: () => void): void
}

export function startProcess(options: {
  actor: Actor
  name: string
  scheduler: Scheduler
  random: SeededRandom
  skewMs: number
  trace: Trace
}): SimulatedProcess {
  const { actor, name, scheduler, random, trace } = options
  let alive = true
  let stopping = false
  let frozenUntil = Number.NEGATIVE_INFINITY
  const listeners = new Set<() => void>()
  const frozen = () => scheduler.now() < frozenUntil
  const deliver = (arrival: () => void) => {
    if (!alive) return
    if (frozen()) scheduler.schedule(frozenUntil - scheduler.now(), () => deliver(arrival))
    else arrival()
  }
  return {
    actor,
    name,
    random,
    clock: createVirtualClock(scheduler, options.skewMs, deliver),
    alive: () => alive,
    frozen,
    stopping: () => stopping,
    stop() {
      stopping = true
    },
    deliver,
    kill(why) {
      if (!alive) return
      alive = false
      trace.note(name, `dies: ${why}`)
      for (const listener of listeners) listener()
    },
    freeze(ms) {
      frozenUntil = Math.max(frozenUntil, scheduler.now() + ms)
      trace.note(name, `freezes for ${ms} ms`)
    },
    onDeath: (listener) => void listeners.add(listener),
    offDeath: (listener) => void listeners.delete(listener),
  }
}
