import type { Random } from './ports/random.ts'

/**
 * Exponential backoff with full jitter: uniform in [0, min(cap, base · 2^(n-1))] for the n-th failure (n from 1).
 * Full jitter rather than equal steps, because jobs that failed together would otherwise come back together
 * (Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
 */
export function backoffMs(random: Random, failures: number, { baseMs, capMs }: Backoff): number {
  return Math.round(random.uniform() * Math.min(capMs, baseMs * 2 ** Math.max(0, failures - 1)))
}

export interface Backoff {
  baseMs: number
  capMs: number
}
