import type { Clock } from '../../core/ports/clock.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * A clock over virtual time.
 *
 * @param skewMs how far it runs ahead of the database's; negative for behind
 * @param deliver decides when a timer that is due reaches its owner: at once, later (frozen) or never (dead)
 */
export function createVirtualClock(
  scheduler: Scheduler,
  skewMs = 0,
  deliver: (timer: () => void) => void = (timer) => timer(),
): Clock {
  return {
    now: () => scheduler.now() + skewMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const abort = () => {
          timer.cancel()
          reject(signal?.reason)
        }
        const timer = scheduler.schedule(ms, () =>
          deliver(() => {
            signal?.removeEventListener('abort', abort)
            resolve()
          }),
        )
        signal?.addEventListener('abort', abort, { once: true })
      }),
  }
}
