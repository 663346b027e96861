import type { Request, RequestHandler } from 'express'
import { isTerminal, type Job } from '../../core/job.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { findJob } from './find-job.ts'
import { negotiate } from './negotiate.ts'
import { ProblemError } from './problem.ts'
import type { Pace } from './queue-pace.ts'
import { type ServedObject, type ServeParts, serveObject } from './serve-object.ts'
import { tenantOf } from './tenant.ts'

export interface ImageParts extends ServeParts {
  jobs: Pick<Jobs, 'find'>
  pace: Pace
}

/** `GET|HEAD /v1/images/:id/:output`: an output of a job that is done, or its original at any time. */
export function imageRoute(parts: ImageParts): RequestHandler<{ id: string; output: string }> {
  return async (request, response) => {
    const { id, output } = request.params
    response.locals.jobId = id
    const find = () => findJob(parts.jobs, tenantOf(request as Request), id)
    const job = await find()
    if (output !== 'original' && !isTerminal(job.status))
      throw notDone(job, await parts.pace.retryAfterSeconds(job))
    const object = output === 'original' ? original(job) : finished(job, output, request.headers.accept)
    if (await serveObject(parts, request as Request, response, object)) return
    // Deleted a moment ago, which this says; anything else is a broken promise of ours.
    await find()
    throw new Error(`the store has no ${object.key}, though ${id} names it`)
  }
}

function original({ jobId, objectKey, original }: Job): ServedObject {
  const extension = original.contentType.replace(/^image\//, '')
  return { key: objectKey, ...original, fileName: `${jobId}.${extension}` }
}

function notDone({ status }: Job, retrySeconds: number): ProblemError {
  return new ProblemError({
    status: 409,
    code: 'not_done',
    detail: `the job is ${status}; its images are there once it has SUCCEEDED`,
    retryable: true,
    headers: { 'Retry-After': String(retrySeconds) },
  })
}

function finished(job: Job, name: string, accept: string | undefined): ServedObject {
  if (job.error) {
    throw new ProblemError({
      status: 409,
      code: job.error.code,
      detail: `the job failed: ${job.error.message}`,
    })
  }
  const planned = job.options.plan.outputs.find((plan) => plan.name === name)
  const variants = job.outputs?.filter((output) => output.name === name) ?? []
  if (variants.length > 0) {
    return { ...negotiate(accept, variants), negotiated: planned?.format === 'auto' }
  }
  if (planned && job.result?.moderation?.verdict === 'rejected') {
    throw new ProblemError({
      status: 403,
      code: 'moderation_rejected',
      detail: 'the moderator rejected the picture: its outputs are withheld',
    })
  }
  throw new ProblemError({
    status: 404,
    code: 'no_such_output',
    detail: 'the job has no output of this name',
  })
}
