import type { JobError } from './job.ts'
import type { JobEnd } from './ports/jobs.ts'

/** How a job ends that nobody finished: what {@link Jobs.end} is told, whoever calls it. */
type Ending = Pick<JobEnd, 'end' | 'deadLetter'>

export function exhausted(attempts: number, lastError: JobError | null): Ending {
  const why = lastError
    ? `; the last one: ${lastError.message} (${lastError.code})`
    : '; none of them answered'
  const message = `all ${attempts} attempts failed${why}`
  return {
    end: { status: 'FAILED', error: { code: 'attempts_exhausted', message } },
    deadLetter: { messageId: null, body: null, reason: message, receiveCount: 0 },
  }
}

export function expired(): Ending {
  return failed({ code: 'expired', message: 'the job was not done by its deadline' })
}

export function cancelled(): Ending {
  return failed({ code: 'cancelled', message: 'the job was cancelled' })
}

export function deleted(): Ending {
  return failed({ code: 'deleted', message: 'the image was deleted before the job was done' })
}

export function failed(error: JobError): Ending {
  return { end: { status: 'FAILED', error } }
}
