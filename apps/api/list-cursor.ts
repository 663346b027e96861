import { isJobId } from '../../core/job-id.ts'
import type { ListCursor } from '../../core/ports/jobs.ts'
import { ProblemError } from './problem.ts'

/** A place in a list as clients carry it: nothing for them to read. */
export function writeCursor({ createdAtUs, jobId }: ListCursor): string {
  return Buffer.from(`${createdAtUs}.${jobId}`).toString('base64url')
}

/** @throws {ProblemError} 422 when it is none of {@link writeCursor} */
export function readCursor(text: string): ListCursor {
  const [createdAtUs = '', jobId = ''] = Buffer.from(text, 'base64url').toString('latin1').split('.')
  const cursor = { createdAtUs, jobId }
  // Written again it has to be the same: decoding passes over what does not belong.
  if (/^\d{1,16}$/.test(createdAtUs) && isJobId(jobId) && writeCursor(cursor) === text) return cursor
  throw new ProblemError({
    status: 422,
    code: 'invalid_parameter',
    detail: 'the query is wrong: cursor: it is the next_cursor of no page',
  })
}
