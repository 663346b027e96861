import type { ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import type { Clock } from '../../core/ports/clock.ts'
import type { Tenants } from '../../core/ports/tenants.ts'
import { shareReads } from './auth-shared-reads.ts'
import { ProblemError } from './problem.ts'
import { findTenant } from './tenant.ts'

/**
 * How many uploads one tenant may have under way in one process. What they share with other tenants' (connections of
 * the store and the database) is never all theirs.
 */
export const MAX_UPLOADS_AT_ONCE = 32
/** How long a count of jobs in flight is good for while there is room: other processes accept as well. */
const COUNT_GOOD_FOR_MS = 1_000
/** When a client does well to ask again for room that other jobs have to make, in seconds. */
const ROOM_RETRY_SECONDS = 5

const leaving = new WeakMap<ServerResponse, () => void>()

/** Says that the upload itself is over, though its answer may wait for the job: others of the tenant may begin. */
export function uploadIsOver(response: ServerResponse): void {
  leaving.get(response)?.()
}

interface Use {
  /** Under way in this process. */
  uploads: number
  /** An upper bound of the tenant's jobs in flight, as far as this process knows. */
  inFlight: number
  countedAt: number
}

/**
 * Refuses an upload before its body is read while its tenant has too many under way, or too many jobs in flight.
 *
 * Jobs are counted in the table at most once a second while there is room; what this process lets through meanwhile is
 * added. Nobody is refused but on a count that began after the request came. Other processes' uploads are seen with the
 * next count, so that the limit may be passed by what they accept in a second.
 */
export function limitUploads(tenants: Tenants | null, clock: Clock): RequestHandler {
  if (!tenants) return (_request, _response, next) => next()
  const uses = new Map<string, Use>()
  const countInFlight = shareReads(async (key) => {
    const [tenant, atMost] = JSON.parse(key) as [string, number]
    return tenants.countInFlight(tenant, atMost)
  })

  function useOf(tenant: string): Use {
    const use = uses.get(tenant) ?? { uploads: 0, inFlight: 0, countedAt: Number.NEGATIVE_INFINITY }
    uses.set(tenant, use)
    return use
  }

  async function hasRoom(tenant: string, use: Use, maxInFlight: number): Promise<boolean> {
    const fresh = Math.abs(clock.now() - use.countedAt) < COUNT_GOOD_FOR_MS
    if (fresh && use.inFlight < maxInFlight) return true
    const counted = await countInFlight(JSON.stringify([tenant, maxInFlight]))
    // Those under way will be jobs that the count has not seen. Several who waited for one count are let in one by one.
    use.inFlight = counted + use.uploads
    use.countedAt = clock.now()
    return use.inFlight < maxInFlight
  }

  return async (request, response, next) => {
    const tenant = findTenant(request)
    if (!tenant?.limits) return next()
    const use = useOf(tenant.name)
    const { maxInFlight } = tenant.limits
    if (!(await hasRoom(tenant.name, use, maxInFlight))) {
      response.append('RateLimit-Policy', `"jobs";q=${maxInFlight};qu="jobs"`)
      response.append('RateLimit', `"jobs";r=0;t=${ROOM_RETRY_SECONDS}`)
      throw overLimit(
        'too_many_jobs',
        `at most ${maxInFlight} jobs may be QUEUED or RUNNING; others have to end first`,
        ROOM_RETRY_SECONDS,
      )
    }
    if (use.uploads >= MAX_UPLOADS_AT_ONCE) {
      throw overLimit('too_many_uploads', `at most ${MAX_UPLOADS_AT_ONCE} uploads are taken at once`, 1)
    }
    // The client may be gone by now: its response closes no second time.
    if (response.closed) return
    use.uploads++
    use.inFlight++
    const leave = () => {
      if (!leaving.delete(response)) return
      use.uploads--
    }
    leaving.set(response, leave)
    // At the answer, so that a client's next request never meets its last one.
    response.once('finish', leave).once('close', leave)
    next()
  }
}

function overLimit(
  code: 'too_many_jobs' | 'too_many_uploads',
  detail: string,
  seconds: number,
): ProblemError {
  return new ProblemError({
    status: 429,
    code,
    detail,
    retryable: true,
    headers: { 'Retry-After': String(seconds) },
  })
}
