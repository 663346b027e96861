import type { RequestHandler } from 'express'
import type { Clock } from '../../core/ports/clock.ts'
import { ProblemError } from './problem.ts'
import { createBuckets } from './rate-bucket.ts'
import { findTenant } from './tenant.ts'

/**
 * Lets a tenant's requests through at its rate, and says in each answer how much of it is left (RateLimit and
 * RateLimit-Policy, draft-ietf-httpapi-ratelimit-headers). What is over it: 429, before the body is read.
 */
export function limitRate(clock: Clock): RequestHandler {
  const take = createBuckets(clock)
  return (request, response, next) => {
    const tenant = findTenant(request)
    if (!tenant?.limits) return next()
    const { ratePerSecond, burst } = tenant.limits
    const { ok, remaining, fullInSeconds, retryInSeconds } = take(tenant.name, tenant.limits)
    response.set({
      'RateLimit-Policy': `"requests";q=${burst};w=${Math.ceil(burst / ratePerSecond)}`,
      RateLimit: `"requests";r=${remaining};t=${ok ? fullInSeconds : retryInSeconds}`,
    })
    if (ok) return next()
    throw new ProblemError({
      status: 429,
      code: 'rate_limited',
      detail: `at most ${ratePerSecond} requests a second are taken, ${burst} of them at once`,
      retryable: true,
      headers: { 'Retry-After': String(retryInSeconds) },
    })
  }
}
