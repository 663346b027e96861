import type { Request, RequestHandler, Response } from 'express'
import type { Presets } from '../../core/preset-file.ts'
import type { Log } from '../../infra/log.ts'
import { acceptUpload, type UploadOutcome, type UploadPorts, type UploadSettings } from './accept-upload.ts'
import { clientGone } from './client-gone.ts'
import { declaredType } from './declared-type.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import type { InFlight } from './in-flight.ts'
import { jobRepresentation, jobUrl, newJobRepresentation, retryAfterSeconds } from './job-representation.ts'
import { PROBLEMS, sendProblem } from './problem.ts'
import { tenantOf } from './tenant.ts'
import { readUploadOptions } from './upload-options.ts'

export interface UploadParts extends UploadPorts, UploadSettings {
  log: Log
  presets: Presets
  inFlight: InFlight
}

/** `POST /v1/images?preset=…&strict=…`. */
export function uploadRoute(parts: UploadParts): RequestHandler {
  return async (request, response) => {
    const upload = {
      tenant: tenantOf(request),
      key: readIdempotencyKey(request.headersDistinct['idempotency-key']),
      declaredType: declaredType(request.headers['content-type']),
      options: readUploadOptions(request.url, parts.presets),
      bytes: announcedBytes(request),
      body: bodyOf(request, response),
    }
    const outcome = await parts.inFlight.run(acceptUpload(parts, parts, upload, clientGone(response)))
    answer(parts, request, response, outcome)
  }
}

/** The length of the request's body; null for a body whose length it does not say. */
function announcedBytes({ headers }: Request): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null
}

/** The request's body. A client that waits for `100 Continue` is told to send once somebody reads. */
async function* bodyOf(request: Request, response: Response): AsyncGenerator<Uint8Array> {
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
  // A request destroyed takes its connection with it, and with that the answer that says why.
  yield* request.iterator({ destroyOnReturn: false })
}

function answer({ log }: UploadParts, request: Request, response: Response, outcome: UploadOutcome): void {
  switch (outcome.kind) {
    case 'accepted': {
      response.locals.jobId = outcome.jobId
      response
        .status(202)
        .set({ Location: jobUrl(outcome.jobId), 'Retry-After': '2', 'Cache-Control': 'no-store' })
        .json(newJobRepresentation(outcome.jobId, outcome.warnings))
      return
    }
    case 'replayed': {
      const { job } = outcome
      response.locals.jobId = job.jobId
      response
        .status(202)
        .set({
          Location: jobUrl(job.jobId),
          'Retry-After': String(retryAfterSeconds(job)),
          'Idempotent-Replayed': 'true',
          'Cache-Control': 'no-store',
        })
        .json(jobRepresentation(job))
      return
    }
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
      log.warn({ err: outcome.error, job_id: outcome.jobId ?? undefined }, 'upload not accepted')
      sendProblem(request, response, PROBLEMS.unavailable)
      return
    case 'aborted':
      response.destroy()
  }
}
