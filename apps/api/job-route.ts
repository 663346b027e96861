import type { Request, RequestHandler } from 'express'
import { isTerminal } from '../../core/job.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { findJob } from './find-job.ts'
import { jobRepresentation, retryAfterSeconds } from './job-representation.ts'
import { tenantOf } from './tenant.ts'

/** `GET /v1/jobs/:id`: the job as the table has it, whatever the queue does. */
export function jobRoute({ jobs }: { jobs: Pick<Jobs, 'find'> }): RequestHandler<{ id: string }> {
  return async (request, response) => {
    response.locals.jobId = request.params.id
    const job = await findJob(jobs, tenantOf(request as Request), request.params.id)
    response.set('Cache-Control', 'no-store')
    if (!isTerminal(job.status)) response.set('Retry-After', String(retryAfterSeconds(job)))
    response.json(jobRepresentation(job))
  }
}
