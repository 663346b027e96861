import { trace } from '@opentelemetry/api'
import type { JobError } from '../../core/job.ts'
import type { ClaimOutcome, Jobs } from '../../core/ports/jobs.ts'
import { failSpan, inSpan } from './spans.ts'
import { tracePort } from './traced-port.ts'

/** The same jobs, each call a span; what ends an attempt without success is said of the attempt's own. */
export function traceJobs(uncovered: Jobs): Jobs {
  const jobs = tracePort('jobs', uncovered)
  return {
    ...jobs,
    end({ end, ...more }) {
      if (end.status === 'FAILED') failAttempt(end.error)
      return jobs.end({ end, ...more })
    },
    putBack(given) {
      if (given.error) failAttempt(given.error)
      return jobs.putBack(given)
    },
  }
}

/** One attempt at a job, within a span of its own. */
export function inAttempt<T>(
  { job, attempt, fence }: Extract<ClaimOutcome, { kind: 'claimed' }>,
  work: () => Promise<T>,
): Promise<T> {
  const attributes = {
    ...{ 'img42.job_id': job.jobId, 'img42.attempt': attempt, 'img42.fence': fence },
    ...{ 'img42.type': job.original.contentType, 'img42.bytes': job.original.bytes },
  }
  return inSpan('attempt', { attributes }, work)
}

function failAttempt({ code, message }: JobError): void {
  const span = trace.getActiveSpan()
  if (!span) return
  failSpan(span, new Error(message))
  span.setAttribute('error.type', code)
}
