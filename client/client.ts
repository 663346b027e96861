import { ProblemError } from './errors.ts'
import { type EventOptions, events, type FollowedEvent } from './events.ts'
import { createSend, type Surroundings, sleep } from './send.ts'
import type { AcceptedJob, Job, JobList, JobStatus } from './types.ts'
import { type ImageData, type UploadOptions, upload } from './upload.ts'
import { type WaitOptions, waitFor } from './wait-for.ts'

export interface ClientOptions {
  /** Where the service is, such as `https://img42.example`. */
  baseUrl: string
  /** `img42_…`; may be missing where the service asks for none. Not for pages that strangers open. */
  apiKey?: string
}

interface CallOptions {
  signal?: AbortSignal
}

export interface ListOptions extends CallOptions {
  status?: JobStatus
  /** Only jobs accepted later. */
  createdAfter?: Date
  /** Only the job of this key. */
  idempotencyKey?: string
  /** The last page's `next_cursor`. */
  cursor?: string
  /** Jobs on a page. Defaults to the service's 20. */
  limit?: number
}

/**
 * Every call is sent again after a lost answer, 408, 429 and 5xx, honouring Retry-After, and rejects with a
 * `ProblemError` for what the service refuses, with a `ConnectionError` when it stays out of reach, and with the
 * signal's reason when that aborts.
 */
export interface Client {
  upload(image: ImageData, options?: UploadOptions): Promise<AcceptedJob>
  /** The job as it stands. */
  job(jobId: string, options?: CallOptions): Promise<Job>
  /** The job once it is done, SUCCEEDED or FAILED. */
  waitFor(jobId: string, options?: WaitOptions): Promise<Job>
  /** An output's bytes, or those of `original`. A job that is not done is a ProblemError `not_done`. */
  download(jobId: string, output: string, options?: CallOptions): Promise<Blob>
  downloadThumbnail(jobId: string, options?: CallOptions): Promise<Blob>
  /** Ends a job that is not done. One that is: ProblemError `already_done`. */
  cancel(jobId: string, options?: CallOptions): Promise<Job>
  /** Deletes original and outputs for good. */
  deleteImage(jobId: string, options?: CallOptions): Promise<void>
  /** A page of jobs, the newest first. */
  list(options?: ListOptions): Promise<JobList>
  /** Each transition of a job, as it happens, until it is done. */
  events(jobId: string, options?: EventOptions): AsyncGenerator<FollowedEvent, void, void>
}

/** How long one try of a call without a body may take. */
const TRY_MS = 30_000
const DOWNLOAD_MS = 300_000

export function createClient(options: ClientOptions): Client {
  return createClientIn(
    { fetch: (...call) => globalThis.fetch(...call), sleep, random: Math.random },
    options,
  )
}

/** For tests: a client that waits and draws lots as it is told. */
export function createClientIn(surroundings: Surroundings, { baseUrl, apiKey }: ClientOptions): Client {
  const base = baseUrl.replace(/\/+$/, '')
  const headers: Record<string, string> = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }
  const send = createSend(surroundings, base, headers)
  const jobPath = (jobId: string) => `/v1/jobs/${encodeURIComponent(jobId)}`
  const imagePath = (jobId: string) => `/v1/images/${encodeURIComponent(jobId)}`

  const client: Client = {
    upload: (image, options) => upload(send, image, options),
    job: (jobId, { signal } = {}) => send({ path: jobPath(jobId), signal, tryMs: TRY_MS }, json<Job>),
    waitFor: (jobId, options) => waitFor(send, surroundings, jobId, options),
    download: (jobId, output, { signal } = {}) =>
      send(
        { path: `${imagePath(jobId)}/${encodeURIComponent(output)}`, signal, tryMs: DOWNLOAD_MS },
        (response) => response.blob(),
      ),
    downloadThumbnail: (jobId, options) => client.download(jobId, 'thumbnail', options),
    async cancel(jobId, { signal } = {}) {
      const tries = { made: 0 }
      try {
        return await send(
          { path: jobPath(jobId), init: { method: 'DELETE' }, signal, tryMs: TRY_MS, ...counting(tries) },
          json<Job>,
        )
      } catch (error) {
        // The answer to an earlier try was lost, and it was that one which ended the job.
        if (!isProblem(error, 'already_done') || tries.made === 1) throw error
        const job = await client.job(jobId, signal && { signal })
        if (job.error?.code !== 'cancelled') throw error
        return job
      }
    },
    async deleteImage(jobId, { signal } = {}) {
      const tries = { made: 0 }
      try {
        await send(
          { path: imagePath(jobId), init: { method: 'DELETE' }, signal, tryMs: TRY_MS, ...counting(tries) },
          async () => {},
        )
      } catch (error) {
        if (!isProblem(error, 'gone') || tries.made === 1) throw error
      }
    },
    list({ signal, status, createdAfter, idempotencyKey, cursor, limit } = {}) {
      const query = new URLSearchParams({
        ...(status && { status }),
        ...(createdAfter && { created_after: createdAfter.toISOString() }),
        ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
        ...(cursor !== undefined && { cursor }),
        ...(limit !== undefined && { limit: String(limit) }),
      })
      const path = `/v1/jobs${query.size > 0 ? `?${query}` : ''}`
      return send({ path, signal, tryMs: TRY_MS }, json<JobList>)
    },
    events: (jobId, options) => events(surroundings, `${base}${jobPath(jobId)}/events`, headers, options),
  }
  return client
}

function json<T>(response: Response): Promise<T> {
  return response.json() as Promise<T>
}

/** Counts the tries of a call. */
function counting(tries: { made: number }) {
  return {
    eachTry(attempt: number) {
      tries.made = attempt
      return {}
    },
  }
}

function isProblem(error: unknown, code: string): boolean {
  return error instanceof ProblemError && error.code === code
}
