import { backoffMs } from '../../core/backoff.ts'
import { DependencyError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Random } from '../../core/ports/random.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'
import type { Gate } from './gate.ts'

export interface AskingParts {
  clock: Clock
  random: Random
  timing: Timing
  gate: Gate
  log: Log
}

/**
 * Asks the database until it answers, shutting the gate meanwhile. A claim whose answer is lost, or a verdict that is not
 * written, would leave an attempt charged that only an outage ended. Asking again is safe however long it takes: a
 * claim is repeatable by its owner, and a verdict has its fence.
 *
 * @param job of whom the log speaks
 * @returns the answer, or null when `drain` aborts before there is one
 */
export async function untilAnswered<T>(
  { clock, random, timing, gate, log }: AskingParts,
  job: object,
  drain: AbortSignal,
  ask: () => Promise<T>,
): Promise<T | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error
      gate.shut(error.dependency)
      log.warn({ ...job, err: error, tries }, 'not answered: asking again')
      if (drain.aborted) return null
      const backoff = { baseMs: timing.backoffBaseMs, capMs: timing.heartbeatMs }
      await clock.sleep(backoffMs(random, tries, backoff), drain).catch(() => {})
    }
  }
}
