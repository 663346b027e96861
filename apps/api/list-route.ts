import type { RequestHandler } from 'express'
import type { Job } from '../../core/job.ts'
import type { Reading } from '../../core/ports/jobs.ts'
import type { Timing } from '../../core/timing.ts'
import { jobRepresentation } from './job-representation.ts'
import { readCursor, writeCursor } from './list-cursor.ts'
import { readQuery } from './read-query.ts'
import type { JobListBody } from './schemas/job.ts'
import { listJobs } from './schemas/job-operations.ts'
import { tenantOf } from './tenant.ts'

export interface ListParts {
  jobs: Pick<Reading, 'list' | 'findByKey'>
  timing: Timing
}

/** `GET /v1/jobs`: the tenant's own jobs, newest first, tombstones left out; or the one of an idempotency key. */
export function listRoute({ jobs, timing }: ListParts): RequestHandler {
  return async (request, response) => {
    const query = readQuery(listJobs, request)
    const tenant = tenantOf(request)
    const status = query.status ?? null
    const createdAfter = query.created_after === undefined ? null : new Date(query.created_after)
    const cursor = query.cursor === undefined ? null : readCursor(query.cursor)

    async function ofKey(key: string): Promise<Job[]> {
      const job = await jobs.findByKey({ tenant, key })
      const asked =
        job?.deletedAt === null &&
        (status === null || job.status === status) &&
        (createdAfter === null || job.createdAt > createdAfter)
      return asked && cursor === null ? [job] : []
    }

    const key = query.idempotency_key
    const page =
      key === undefined
        ? await jobs.list({ tenant, status, createdAfter, cursor, limit: query.limit })
        : { jobs: await ofKey(key), next: null }
    const body: JobListBody = {
      jobs: page.jobs.map((job) => jobRepresentation(job, timing)),
      next_cursor: page.next && writeCursor(page.next),
    }
    response.set('Cache-Control', 'no-store').json(body)
  }
}
