import type { Request, RequestHandler } from 'express'
import type { Callback, Callbacks } from '../../core/ports/callbacks.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import { findJob } from './find-job.ts'
import { PROBLEMS, ProblemError } from './problem.ts'
import { type CallbackBody, type CallbackListBody, callbackIdSchema } from './schemas/callback.ts'
import { tenantOf } from './tenant.ts'

export interface CallbackParts {
  jobs: Pick<Jobs, 'find'>
  callbacks: Pick<Callbacks, 'list' | 'resend'>
}

/** `GET /v1/jobs/:id/callbacks`: what was owed at the job's end, and each try to deliver it. */
export function callbacksRoute({ jobs, callbacks }: CallbackParts): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const { id } = request.params
    response.locals.jobId = id
    await findJob(jobs, tenantOf(request as Request), id)
    const body: CallbackListBody = { callbacks: (await callbacks.list(id)).map(callbackRepresentation) }
    response.set('Cache-Control', 'no-store').json(body)
  }
}

/** `POST /v1/jobs/:id/callbacks/:callback/resend`: due at once, with the same id, whatever became of it. */
export function resendRoute({
  jobs,
  callbacks,
}: CallbackParts): RequestHandler<{ id: string; callback: string }> {
  return async (request, response) => {
    const { id, callback: callbackId } = request.params
    response.locals.jobId = id
    await findJob(jobs, tenantOf(request as unknown as Request), id)
    // What can be no id, a NUL among it, is not for the database.
    if (!callbackIdSchema.safeParse(callbackId).success) throw new ProblemError(PROBLEMS.noSuchCallback)
    const outcome = await callbacks.resend({ jobId: id, callbackId })
    if (outcome === 'in_flight') throw new ProblemError(PROBLEMS.callbackInFlight)
    const callback = (await callbacks.list(id)).find((each) => each.callbackId === callbackId)
    if (outcome === 'unknown' || !callback) throw new ProblemError(PROBLEMS.noSuchCallback)
    response.status(202).set('Cache-Control', 'no-store').json(callbackRepresentation(callback))
  }
}

function callbackRepresentation(callback: Callback): CallbackBody {
  const { callbackId, event, url, state, createdAt, finishedAt, sends, nextAttemptAt, attempts } = callback
  return {
    callback_id: callbackId,
    event,
    url,
    state,
    created_at: createdAt.toISOString(),
    ...(finishedAt && { finished_at: finishedAt.toISOString() }),
    attempts: sends,
    ...(nextAttemptAt && { next_attempt_at: nextAttemptAt.toISOString() }),
    deliveries: attempts.map(({ at, durationMs, statusCode, error }) => ({
      at: at.toISOString(),
      duration_ms: durationMs,
      ...(statusCode !== null && { status_code: statusCode }),
      ...(error !== null && { error }),
    })),
  }
}
