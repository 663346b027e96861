import { AsyncResource } from 'node:async_hooks'
import type { RequestHandler, Response } from 'express'
import { isJobId } from '../../core/job-id.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Random } from '../../core/ports/random.ts'
import type { Log } from '../../infra/log.ts'

/**
 * Gives each request an id, the client's own where it sent a sane one, and logs its end. Routes stand in the log, not
 * URLs.
 */
export function logRequests({
  log,
  clock,
  random,
}: {
  log: Log
  clock: Clock
  random: Random
}): RequestHandler {
  return (request, response, next) => {
    const startedAt = clock.now()
    const given = request.get('X-Request-Id')
    const requestId = given && SANE.test(given) ? given : Buffer.from(random.bytes(12)).toString('hex')
    response.locals.requestId = requestId
    response.set('X-Request-Id', requestId)
    const logEnd = () => {
      const route: string | undefined = request.route?.path
      // Probes come every few seconds for ever.
      const level = route === '/healthz' || route === '/readyz' ? 'debug' : 'info'
      log[level](
        {
          method: request.method,
          route: route ?? null,
          status: response.headersSent ? response.statusCode : null,
          complete: response.writableFinished,
          ms: clock.now() - startedAt,
          request_id: requestId,
          tenant: response.locals.tenant,
          job_id: loggedJobId(response),
        },
        'request',
      )
    }
    // In the context of the request, which the end of its connection is not.
    response.once('close', AsyncResource.bind(logEnd))
    next()
  }
}

/** What stands in the path where a job's id belongs, unless it is no such id: it may be a key that was pasted there. */
export function loggedJobId({ locals: { jobId } }: Response): string | undefined {
  return typeof jobId === 'string' && isJobId(jobId) ? jobId : undefined
}

const SANE = /^[\w.-]{1,64}$/
