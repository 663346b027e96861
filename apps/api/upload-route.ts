import type { Request, RequestHandler, Response } from 'express'
import type { CallbackAllow } from '../../core/callback-address.ts'
import type { Job } from '../../core/job.ts'
import type { Presets } from '../../core/preset-file.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'
import { acceptUpload } from './accept-upload.ts'
import { clientGone } from './client-gone.ts'
import { readContentDigest } from './content-digest.ts'
import { declaredType } from './declared-type.ts'
import { findJob } from './find-job.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import type { InFlight } from './in-flight.ts'
import { acceptedRepresentation, jobUrl } from './job-representation.ts'
import { sayWhenToAsk } from './job-route.ts'
import { type JobWatch, waitedFor } from './job-watch.ts'
import { preferredWait } from './preferred-wait.ts'
import { PROBLEMS, ProblemError, sendProblem } from './problem.ts'
import type { Pace } from './queue-pace.ts'
import { uploadIsOver } from './rate-uploads.ts'
import { tenantOf } from './tenant.ts'
import { letBodyPass } from './unread-body.ts'
import type { Upload, UploadOutcome, UploadPorts, UploadSettings } from './upload.ts'
import { readUploadOptions } from './upload-options.ts'

export interface UploadParts extends UploadPorts, UploadSettings {
  log: Log
  presets: Presets
  inFlight: InFlight
  watch: JobWatch
  pace: Pace
  /** Whether an upload has to have a key. */
  idempotencyRequired: boolean
  callbackAllow: CallbackAllow
}

/** `POST /v1/images`. */
export function uploadRoute(parts: UploadParts): RequestHandler {
  return async (request, response) => {
    const upload: Upload = {
      tenant: tenantOf(request),
      key: readIdempotencyKey(request.headersDistinct['idempotency-key']),
      declaredType: declaredType(request.headers['content-type']),
      options: readUploadOptions(request, parts),
      bytes: announcedBytes(request),
      announcedSha256: readContentDigest(request.headersDistinct['content-digest']),
      holdsBodyBack: expectsContinue(request),
      body: bodyOf(request, response),
    }
    if (upload.key === null && parts.idempotencyRequired) throw keyMissing()
    const gone = clientGone(response)
    const outcome = await parts.inFlight.run(acceptUpload(parts, parts, upload, gone))
    uploadIsOver(response)
    await answer(parts, request, response, upload, outcome, gone)
  }
}

/** The length of the request's body; null for a body whose length it does not say. */
function announcedBytes({ headers }: Request): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null
}

function expectsContinue({ headers, httpVersion }: Request): boolean {
  return headers.expect !== undefined && httpVersion === '1.1'
}

/** The request's body. A client that waits for `100 Continue` is told to send once somebody reads. */
async function* bodyOf(request: Request, response: Response): AsyncGenerator<Uint8Array> {
  if (expectsContinue(request)) response.writeContinue()
  // A request destroyed takes its connection with it, and with that the answer that says why.
  yield* request.iterator({ destroyOnReturn: false })
}

async function answer(
  parts: UploadParts,
  request: Request,
  response: Response,
  upload: Upload,
  outcome: UploadOutcome,
  gone: AbortSignal,
): Promise<void> {
  switch (outcome.kind) {
    case 'accepted':
    case 'replayed':
      return answerWithJob(parts, request, response, upload, outcome, gone)
    case 'in_progress':
      sendProblem(request, response, {
        status: 409,
        code: 'upload_in_progress',
        detail: 'another request with this Idempotency-Key is still uploading',
        retryable: true,
        headers: { 'Retry-After': String(Math.max(1, Math.ceil(outcome.retryInMs / 1_000))) },
      })
      return
    case 'key_conflict':
      sendProblem(request, response, PROBLEMS.keyConflict)
      return
    case 'refused': {
      const { message, ...refusal } = outcome.refusal
      sendProblem(request, response, { ...refusal, detail: message, retryable: refusal.status === 408 })
      return
    }
    case 'unavailable':
      parts.log.warn({ err: outcome.error, job_id: outcome.jobId ?? undefined }, 'upload not accepted')
      sendProblem(request, response, PROBLEMS.unavailable)
      return
    case 'aborted':
      response.destroy()
  }
}

async function answerWithJob(
  parts: { watch: JobWatch; pace: Pace; timing: Timing; jobs: UploadParts['jobs'] },
  request: Request,
  response: Response,
  { tenant, key }: Upload,
  outcome: { kind: 'accepted' | 'replayed'; job: Job },
  gone: AbortSignal,
): Promise<void> {
  const { jobId } = outcome.job
  response.locals.jobId = jobId
  response.set('Location', jobUrl(jobId))
  if (outcome.kind === 'replayed') response.set('Idempotent-Replayed', 'true')
  // The request did succeed, once; what it asked for is no more, and asking for the job would not bring it back.
  if (outcome.job.deletedAt) return sendProblem(request, response, PROBLEMS.gone)

  const wait = parts.watch.hasRoom() ? preferredWait(request.headers.prefer) : null
  const job = await waitedFor(parts.watch, outcome.job, wait, gone, () => findJob(parts.jobs, tenant, jobId))
  if (gone.aborted) return
  if (wait !== null) response.set('Preference-Applied', `wait=${wait}`)
  await sayWhenToAsk(parts, response, job)
  const body = JSON.stringify(acceptedRepresentation(job, parts.timing, key !== null))
  response.status(202).set({
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
  })
  letBodyPass(request, response, body)
}

function keyMissing(): ProblemError {
  return new ProblemError({
    status: 400,
    code: 'idempotency_key_missing',
    detail:
      'an upload needs an Idempotency-Key here, so that it can be sent again when its answer is lost; see /docs#tag/Images',
    headers: { Link: '</docs#tag/Images>; rel="help"' },
  })
}
