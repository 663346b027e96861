import { type Dependency, DependencyError } from '../../core/errors.ts'
import { applies, type Fault, type FaultPlan, type Step } from './faults.ts'
import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { brief, type Trace } from './trace.ts'

/** Carries the calls of all processes to the ports, in the order that the seed draws, and damages them as planned. */
export interface Network {
  call<T>(process: SimulatedProcess, call: Call<T>): Promise<T>
  /** How many calls were made. */
  calls(): number
}

export interface Call<T> {
  step: Step
  dependency: Dependency
  /** For the trace. */
  args: readonly unknown[]
  /** @param cut aborts when the caller is gone and the connection closed with it */
  effect: (cut: AbortSignal) => Promise<T>
  /** The same with one entry of the batch refused. */
  withRefusedEntry?: (cut: AbortSignal, forGood: boolean) => Promise<T>
  /** The caller's deadline; null where the port has one of its own. */
  signal: AbortSignal | null
  /** Whether the world waits for the effect; false for what takes virtual time, such as a long poll. */
  instant: boolean
  /** Called as soon as the effect happened, whatever becomes of the answer. */
  happened?: (outcome: Outcome<T>) => void
}

export type Outcome<T> = { ok: true; answer: T } | { ok: false; error: unknown }

export interface NetworkOptions {
  scheduler: Scheduler
  random: SeededRandom
  trace: Trace
  plan: FaultPlan
  /** Called for each call with the fault that it met, null for none. */
  onCall: (process: SimulatedProcess, step: Step, fault: Fault | null) => void
  latencyMs: { least: number; most: number }
  /** The deadline of calls that bring none. */
  ownDeadlineMs: number
  freezeMs: () => number
  lateMs: () => number
}

export function createNetwork(options: NetworkOptions): Network {
  const { scheduler, random, trace, plan, latencyMs, ownDeadlineMs } = options
  let calls = 0
  const latency = () => random.int(latencyMs.least, latencyMs.most)

  function call<T>(process: SimulatedProcess, request: Call<T>): Promise<T> {
    if (!process.alive()) return never()
    const { step, dependency, args, signal } = request
    const planned = plan({ actor: process.actor, step, index: calls++ })
    const fault = planned && applies(planned, step) ? planned : null
    options.onCall(process, step, fault)
    const said = () => brief(args)
    if (fault) trace.note(process.name, `${step} meets ${fault}`, said)
    if (fault === 'crash_before') {
      process.kill(`before ${step}`)
      return never()
    }
    if (fault === 'freeze_before') process.freeze(options.freezeMs())

    return new Promise<T>((resolve, reject) => {
      let settled = false
      const once = (settle: () => void) => {
        if (settled) return
        settled = true
        signal?.removeEventListener('abort', gaveUp)
        settle()
      }
      const answer = (settle: () => void) =>
        scheduler.schedule(latency(), () => process.deliver(() => once(settle)))
      const fail = (why: string, unsent = false) =>
        answer(() => reject(new DependencyError(dependency, `${step}: ${why}`, { unsent })))
      // The bytes of a request may be on their way when its sender dies or gives up.
      const arrivesAnyway = random.chance(0.5)
      const cut = new AbortController()
      const disconnect = () => {
        if (!arrivesAnyway) cut.abort(new DependencyError(dependency, `${step}: the caller is gone`))
      }
      const gaveUp = () => {
        disconnect()
        once(() => reject(signal?.reason))
      }
      process.onDeath(disconnect)
      signal?.addEventListener('abort', gaveUp, { once: true })
      if (signal?.aborted) return gaveUp()

      async function takeEffect(): Promise<void> {
        if (cut.signal.aborted) {
          trace.note(process.name, `${step} does not arrive`, said)
          return
        }
        const refused = fault === 'refused_entry' || fault === 'refused_for_good'
        const effect =
          refused && request.withRefusedEntry
            ? request.withRefusedEntry(cut.signal, fault === 'refused_for_good')
            : request.effect(cut.signal)
        const outcome: Outcome<T> = await effect.then(
          (answer) => ({ ok: true as const, answer }),
          (error: unknown) => ({ ok: false as const, error }),
        )
        trace.note(process.name, `${step} ${outcome.ok ? 'done' : 'failed'}`, () =>
          outcome.ok ? `${said()} → ${brief(outcome.answer)}` : `${said()} ✗ ${outcome.error}`,
        )
        process.offDeath(disconnect)
        request.happened?.(outcome)
        arrived(outcome)
      }

      function arrived(outcome: Outcome<T>): void {
        if (fault === 'crash_after') process.kill(`after ${step}`)
        if (fault === 'freeze_after') process.freeze(options.freezeMs())
        if (fault === 'lost_reply') fail('the answer was lost')
        else if (fault === 'hang_done') hang()
        else if (fault !== 'late') {
          answer(() => (outcome.ok ? resolve(outcome.answer) : reject(outcome.error)))
        }
      }

      /** The answer never comes: whoever has no deadline waits for ever. */
      function hang(): void {
        if (signal) return
        scheduler.schedule(ownDeadlineMs, () => {
          process.deliver(() =>
            once(() => reject(new DependencyError(dependency, `${step}: no answer in time`))),
          )
        })
      }

      const send = (afterMs: number) =>
        scheduler.schedule(afterMs, () => {
          const effect = takeEffect()
          return request.instant ? effect : undefined
        })
      process.deliver(() => {
        if (fault === 'unavailable') fail('refused', true)
        else if (fault === 'hang_undone') hang()
        else if (fault === 'late') {
          fail('the connection broke')
          send(options.lateMs())
        } else send(latency())
      })
    })
  }

  return { call, calls: () => calls }
}

function never(): Promise<never> {
  return new Promise(() => {})
}
