/** What stands behind a problem's `code`. The codes are stable: clients program against them. */
export interface ProblemMeaning {
  status: number
  /** Whether the same request may succeed later. */
  retryable?: true
  meaning: string
}

/** Every problem of the HTTP interface. A failed job's code (see `JOB_ERRORS`) stands in a 409 as well. */
export const PROBLEM_MEANINGS = {
  malformed_url: { status: 400, meaning: 'The path is not properly percent-encoded.' },
  malformed_request: { status: 400, meaning: 'The request is no well-formed HTTP.' },
  empty_body: { status: 400, meaning: 'The image is missing: the body is empty.' },
  idempotency_key_malformed: {
    status: 400,
    meaning: 'The Idempotency-Key is empty, malformed, over 255 characters long, or was sent twice.',
  },
  idempotency_key_missing: {
    status: 400,
    meaning: 'This service takes no upload without an Idempotency-Key.',
  },
  content_digest_malformed: {
    status: 400,
    meaning: 'The Content-Digest is no RFC 9530 dictionary with a sha-256 of 32 bytes.',
  },
  host_missing: { status: 400, meaning: 'The request names no Host.' },
  unauthorized: { status: 401, meaning: 'The API key is missing, unknown or revoked.' },
  moderation_rejected: {
    status: 403,
    meaning: 'A moderator has rejected the image; its outputs are withheld.',
  },
  not_found: { status: 404, meaning: 'There is nothing under this path.' },
  no_such_job: {
    status: 404,
    meaning: 'There is no such job: the same for an unknown id, a malformed one, and another tenant’s.',
  },
  no_such_output: { status: 404, meaning: 'The job succeeded and has no output of this name.' },
  no_such_callback: { status: 404, meaning: 'The job has no callback of this id.' },
  method_not_allowed: { status: 405, meaning: 'The resource has no such method; Allow names those it has.' },
  headers_timeout: { status: 408, retryable: true, meaning: 'The headers took too long.' },
  upload_timeout: {
    status: 408,
    retryable: true,
    meaning: 'The body took too long, or nothing of it came for too long.',
  },
  upload_too_slow: {
    status: 408,
    retryable: true,
    meaning: 'The body comes more slowly than this service waits for.',
  },
  upload_in_progress: {
    status: 409,
    retryable: true,
    meaning: 'Another request with this Idempotency-Key is still uploading.',
  },
  not_done: { status: 409, retryable: true, meaning: 'The job has no outputs yet.' },
  already_done: { status: 409, meaning: 'The job has ended and cannot be cancelled; job_status says how.' },
  callback_in_flight: { status: 409, retryable: true, meaning: 'The callback is being sent at this moment.' },
  gone: { status: 410, meaning: 'The image was deleted, or kept for as long as results are.' },
  changed: { status: 412, meaning: 'No entity tag of If-Match is the image’s.' },
  too_large: { status: 413, meaning: 'The body is larger than this service takes.' },
  unsupported_type: {
    status: 415,
    meaning: 'The bytes, or the Content-Type, are of no accepted image type.',
  },
  range_not_satisfiable: { status: 416, meaning: 'The Range lies outside the image.' },
  expectation_failed: { status: 417, meaning: 'Only 100-continue can be expected.' },
  idempotency_key_reused: {
    status: 422,
    meaning: 'This Idempotency-Key stands for another request: other bytes, type or options.',
  },
  content_digest_mismatch: { status: 422, meaning: 'The body has another SHA-256 than the Content-Digest.' },
  invalid_parameter: {
    status: 422,
    meaning: 'A query parameter is unknown, was given twice, or has a value outside of its limits.',
  },
  callback_url_refused: {
    status: 422,
    meaning: 'The callback_url is no URL that callbacks may be sent to.',
  },
  unknown_preset: {
    status: 422,
    meaning: 'There is no preset of this name; the detail names those there are.',
  },
  corrupt: { status: 422, meaning: 'The image is broken.' },
  truncated: { status: 422, meaning: 'The image ends too early.' },
  too_many_pixels: { status: 422, meaning: 'The image has more pixels than this service takes.' },
  too_many_frames: { status: 422, meaning: 'The image has more frames than this service takes.' },
  rate_limited: { status: 429, retryable: true, meaning: 'The tenant sends more requests than it may.' },
  too_many_jobs: {
    status: 429,
    retryable: true,
    meaning: 'The tenant has more unfinished jobs than it may.',
  },
  too_many_uploads: {
    status: 429,
    retryable: true,
    meaning: 'The tenant has more uploads under way than it may.',
  },
  too_many_streams: {
    status: 429,
    retryable: true,
    meaning: 'The tenant has more event streams open than it may.',
  },
  headers_too_large: { status: 431, meaning: 'The headers are larger than 16 KiB.' },
  internal: { status: 500, meaning: 'A mistake of this service; its log has the request id.' },
  method_not_implemented: { status: 501, meaning: 'The server has no such method at all.' },
  unavailable: {
    status: 503,
    retryable: true,
    meaning: 'Something that this service depends on does not answer.',
  },
  not_ready: { status: 503, retryable: true, meaning: 'The process is not ready, or is stopping.' },
} as const satisfies Record<string, ProblemMeaning>

export type ProblemCode = keyof typeof PROBLEM_MEANINGS
