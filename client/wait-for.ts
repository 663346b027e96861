import { retryAfterSeconds } from './errors.ts'
import type { Send, Surroundings } from './send.ts'
import type { Job } from './types.ts'

export interface WaitOptions {
  /** Ends the waiting, not the job: `AbortSignal.timeout(60_000)` waits for a minute at most. */
  signal?: AbortSignal
  /** Told of the job each time that it was looked at. */
  onUpdate?: (job: Job) => void
}

/** How long the service may hold a request back until the job is done. */
const WAIT_SECONDS = 20

/**
 * The job once it is done, SUCCEEDED or FAILED: see `status` and `error`. The service answers as soon as that is the
 * case; one that does not know how to wait is asked again when it says.
 */
export async function waitFor(
  send: Send,
  { sleep, random }: Surroundings,
  jobId: string,
  { signal, onUpdate }: WaitOptions = {},
): Promise<Job> {
  while (true) {
    const { job, waited, againSeconds } = await send(
      {
        path: `/v1/jobs/${encodeURIComponent(jobId)}`,
        init: { headers: { Prefer: `wait=${WAIT_SECONDS}` } },
        signal,
        tryMs: (WAIT_SECONDS + 30) * 1_000,
      },
      async (response) => ({
        job: (await response.json()) as Job,
        waited: response.headers.has('preference-applied'),
        againSeconds: retryAfterSeconds(response) ?? 2,
      }),
    )
    onUpdate?.(job)
    if (job.done) return job
    // The wait is over: the next one is. A service that could not wait says when it is to be asked again.
    await sleep(waited ? 100 * random() : againSeconds * 1_000, signal)
  }
}
