import type { Request, RequestHandler, Response } from 'express'
import { isTerminal, type Job } from '../../core/job.ts'
import type { Reading } from '../../core/ports/jobs.ts'
import type { Timing } from '../../core/timing.ts'
import { clientGone } from './client-gone.ts'
import { findJob } from './find-job.ts'
import { jobRepresentation } from './job-representation.ts'
import { type JobWatch, waitedFor } from './job-watch.ts'
import { preferredWait } from './preferred-wait.ts'
import type { Pace } from './queue-pace.ts'
import { tenantOf } from './tenant.ts'

export interface JobParts {
  jobs: Pick<Reading, 'find'>
  watch: JobWatch
  pace: Pace
  timing: Timing
}

/** `GET /v1/jobs/:id`: the job as the table has it, whatever the queue does; once it is done, where the request prefers to wait. */
export function jobRoute(parts: JobParts): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const { jobs, watch, timing } = parts
    const { id } = request.params
    response.locals.jobId = id
    const gone = clientGone(response)
    const find = () => findJob(jobs, tenantOf(request as Request), id)
    const found = await find()
    const wait = watch.hasRoom() ? preferredWait(request.headers.prefer) : null
    const job = await waitedFor(watch, found, wait, gone, find)
    if (gone.aborted) return
    if (wait !== null) response.set('Preference-Applied', `wait=${wait}`)
    await sayWhenToAsk(parts, response, job)
    response.set('Cache-Control', 'no-store').json(jobRepresentation(job, timing))
  }
}

/** Sets Retry-After where the job is not done. */
export async function sayWhenToAsk(
  { pace }: Pick<JobParts, 'pace'>,
  response: Response,
  job: Job,
): Promise<void> {
  if (!isTerminal(job.status)) response.set('Retry-After', String(await pace.retryAfterSeconds(job)))
}
