import type { Request, RequestHandler } from 'express'
import { withDeadline } from '../../core/deadline.ts'
import { deleteJobObjects } from '../../core/job-objects.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'
import { findJob } from './find-job.ts'
import { tenantOf } from './tenant.ts'

export interface DeleteParts {
  jobs: Pick<Jobs, 'find' | 'bury' | 'confirmObjectsGone'>
  objectStore: Pick<ObjectStore, 'list' | 'delete'>
  clock: Clock
  timing: Timing
  log: Log
}

/** `DELETE /v1/images/:id`: the job becomes a tombstone, which is the promise; its objects go now, or by the sweep. */
export function deleteRoute(parts: DeleteParts): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const { id } = request.params
    response.locals.jobId = id
    const { held } = await findJob(parts.jobs, tenantOf(request as Request), id)
    await parts.jobs.bury(id)
    await deleteObjects(parts, id, held).catch((err) => {
      parts.log.warn({ err, job_id: id }, 'objects of a deleted image are left to the sweep')
    })
    response.status(204).end()
  }
}

async function deleteObjects(
  { jobs, objectStore, clock, timing }: DeleteParts,
  jobId: string,
  held: boolean,
): Promise<void> {
  await withDeadline(clock, timing.callMs, undefined, (signal) =>
    deleteJobObjects(objectStore, jobId, signal),
  )
  // The worker that had the job may be storing its thumbnail still: the sweep looks again, and confirms.
  if (!held) await jobs.confirmObjectsGone([jobId])
}
