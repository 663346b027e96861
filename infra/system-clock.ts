import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../core/ports/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal ? { signal } : {})
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
}
