import type { Request, RequestHandler } from 'express'
import { cancelled } from '../../core/job-ends.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { Timing } from '../../core/timing.ts'
import { findJob } from './find-job.ts'
import { jobRepresentation } from './job-representation.ts'
import { ProblemError } from './problem.ts'
import { tenantOf } from './tenant.ts'

export interface CancelParts {
  jobs: Pick<Jobs, 'find' | 'end'>
  timing: Timing
}

/**
 * `DELETE /v1/jobs/:id`: ends a job that is not done, by the statement that ends every job: of a cancel and a completion
 * at once one changes the row, and the other finds it changed. A worker that has the job learns it from its next
 * heartbeat, whose fence is old then, and kills what it runs.
 */
export function cancelRoute({ jobs, timing }: CancelParts): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const { id } = request.params
    response.locals.jobId = id
    const find = () => findJob(jobs, tenantOf(request as Request), id)
    await find()
    const ended = await jobs.end({ jobId: id, by: { kind: 'owner' }, ...cancelled() })
    const job = await find()
    if (!ended) {
      throw new ProblemError({
        status: 409,
        code: 'already_done',
        detail: `the job has ${job.status} already`,
        jobStatus: job.status,
      })
    }
    response.set('Cache-Control', 'no-store').json(jobRepresentation(job, timing))
  }
}
