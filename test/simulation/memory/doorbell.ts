import type { Clock } from '../../../core/ports/clock.ts'

/** What long polls wait on. */
export interface Doorbell {
  /** Ends every wait. */
  ring(): void
  /** Resolves after `ms` or at the next ring; rejects with the signal's reason. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export function createDoorbell(clock: Clock): Doorbell {
  const waiting = new Set<AbortController>()
  return {
    ring() {
      for (const waiter of waiting) waiter.abort(RUNG)
    },
    async wait(ms, signal) {
      const rung = new AbortController()
      waiting.add(rung)
      try {
        await clock.sleep(ms, AbortSignal.any([signal, rung.signal]))
      } catch (error) {
        if (!rung.signal.aborted || signal.aborted) throw error
      } finally {
        waiting.delete(rung)
      }
    },
  }
}

/** A reason of its own saves the making of an exception for each ring. */
const RUNG = 'rung'
