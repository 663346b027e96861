import type { Clock } from '../../core/ports/clock.ts'
import type { TenantLimits } from '../../core/ports/tenants.ts'

export interface Taken {
  ok: boolean
  /** Requests that could follow at once. */
  remaining: number
  /** Until the bucket is full again, in whole seconds. */
  fullInSeconds: number
  /** Until the next request is let through, in whole seconds, at least 1. */
  retryInSeconds: number
}

/**
 * A token bucket for each tenant, in this process's memory: `burst` tokens, `ratePerSecond` of them given back a second.
 * Processes do not know of each other, so a tenant has the rate once for each of them.
 */
export function createBuckets(
  clock: Clock,
): (tenant: string, limits: Pick<TenantLimits, 'ratePerSecond' | 'burst'>) => Taken {
  // One entry for each tenant that ever came with a valid key: too few to be cleared away.
  const buckets = new Map<string, { tokens: number; at: number }>()
  return (tenant, { ratePerSecond, burst }) => {
    const now = clock.now()
    const last = buckets.get(tenant) ?? { tokens: burst, at: now }
    // A clock that was set back gives nothing, and takes nothing either.
    const given = (Math.max(0, now - last.at) / 1_000) * ratePerSecond
    const tokens = Math.min(burst, last.tokens + given)
    const ok = tokens >= 1
    const left = ok ? tokens - 1 : tokens
    buckets.set(tenant, { tokens: left, at: now })
    return {
      ok,
      remaining: Math.floor(left),
      fullInSeconds: Math.ceil((burst - left) / ratePerSecond),
      retryInSeconds: Math.max(1, Math.ceil((1 - left) / ratePerSecond)),
    }
  }
}
