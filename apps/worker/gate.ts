import { backoffMs } from '../../core/backoff.ts'
import type { Dependency } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Random } from '../../core/ports/random.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'

export interface GateParts {
  /** Asks a dependency; rejects while it does not serve. */
  probe: (dependency: Dependency) => Promise<void>
  clock: Clock
  random: Random
  timing: Timing
  log: Log
}

/**
 * Stands before the receive loop. While a dependency fails, a message that is received can only be given back, and each
 * receive brings it closer to the dead-letter queue. So a failure shuts the gate, and it opens only after a probe was
 * answered. Failures in a row make the pauses longer even when each probe succeeds: a store that answers reads and
 * refuses writes would otherwise let every message through in turn.
 */
export interface Gate {
  /** Resolves once the gate is open; rejects when `signal` aborts. */
  passed(signal: AbortSignal): Promise<void>
  /** A dependency failed an attempt. */
  shut(dependency: Dependency): void
  /** An attempt reached its end with all dependencies. */
  served(): void
}

export function createGate({ probe, clock, random, timing, log }: GateParts): Gate {
  let failures = 0
  let failing: Dependency | null = null
  return {
    async passed(signal) {
      while (failing) {
        const backoff = { baseMs: timing.backoffBaseMs, capMs: timing.leaseMs }
        await clock.sleep(backoffMs(random, failures, backoff), signal)
        try {
          await probe(failing)
          log.info({ dependency: failing, failures }, 'receiving again')
          failing = null
        } catch {
          failures += 1
        }
      }
    },
    shut(dependency) {
      failures += 1
      if (!failing) log.warn({ dependency, failures }, 'dependency fails: receiving nothing until it answers')
      failing = dependency
    },
    served() {
      failures = 0
    },
  }
}
