import { withDeadline } from '../../core/deadline.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Queue } from '../../core/ports/queue.ts'
import type { Timing } from '../../core/timing.ts'

/**
 * Watches whether the queue has been empty (nothing visible, in flight or delayed) at every reading for at least
 * `timing.evidenceMs`. One reading proves nothing, because SQS's numbers are approximate and lag; a failed one proves
 * nothing either, and starts the watch anew.
 *
 * @returns takes a reading and answers whether the queue counts as empty
 */
export function watchForEmptyQueue(queue: Queue, clock: Clock, timing: Timing): () => Promise<boolean> {
  let emptySince: number | null = null
  return async () => {
    try {
      const depth = await withDeadline(clock, timing.callMs, undefined, (signal) => queue.depth(signal))
      const empty = depth.visible + depth.inFlight + depth.delayed === 0
      emptySince = empty ? (emptySince ?? clock.now()) : null
    } catch {
      emptySince = null
    }
    return emptySince !== null && clock.now() - emptySince >= timing.evidenceMs
  }
}
