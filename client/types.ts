// Made by `npm run client:types` from the schemas of the API. Not to be edited.

/** An RFC 9457 problem. */
export type Problem = {
  /** A URI that stands for the code. */
  type: string
  /** The status in words. */
  title: string
  status: number
  /** A sentence for people: what was found, and the limit. */
  detail: string
  /** Stable: what a program decides by. */
  code: string
  /** Whether the same request may succeed later. */
  retryable: boolean
  /** Of a refused image: it is broken (file), or of a type or size that is not taken here (service). */
  fault?: 'file' | 'service'
  /** Of a job that cannot be cancelled any more. */
  job_status?: JobStatus
}

/** QUEUED → RUNNING → SUCCEEDED or FAILED; back to QUEUED when an attempt ends without a verdict. */
export type JobStatus = 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED'

export type JobEvent = {
  /** A job’s id. */
  job_id: string
  event: 'accepted' | 'claimed' | 'put_back' | 'rescued' | 'redriven' | 'succeeded' | 'failed'
  status: JobStatus
  done: boolean
  /** When it happened. */
  at: string
  attempts: number
  error?: JobError
}

export type JobError = {
  code:
    | 'unsupported_type'
    | 'corrupt'
    | 'truncated'
    | 'too_many_pixels'
    | 'too_many_frames'
    | 'not_strict'
    | 'original_missing'
    | 'renderer_crashed'
    | 'renderer_out_of_memory'
    | 'moderation_failed'
    | 'timeout'
    | 'internal'
    | 'dependency_unavailable'
    | 'attempts_exhausted'
    | 'dead_lettered'
    | 'publish_refused'
    | 'expired'
    | 'cancelled'
    | 'deleted'
  message: string
  /** Whether the same image may succeed, sent again. */
  retryable: boolean
  /** Of a refused image: it is broken (file), or of a type or size that is not taken here (service). */
  fault?: 'file' | 'service'
}

export type AcceptedJob = {
  /** A job’s id. */
  job_id: string
  status: JobStatus
  /** Whether the status is final: SUCCEEDED or FAILED. */
  done: boolean
  /** Where the job is. */
  url: string
  /** When it was accepted. */
  created_at: string
  /** When it ended. */
  finished_at?: string
  /** Not done: when it FAILs as expired unless it was begun by then. */
  expires_at?: string
  /** Until when original and outputs are kept at least; later once the job has ended. */
  result_expires_at?: string
  /** How often it was begun. */
  attempts: number
  preset: string
  strict: boolean
  /** Not done: what ended the last attempt. */
  last_error?: JobError
  /** Waiting for another attempt: not before. */
  next_attempt_at?: string
  original: Image
  /** SUCCEEDED: the first output; none where a moderator withholds it. */
  result?: string
  /** SUCCEEDED: the images made. */
  outputs?: Output[]
  /** What made the outputs: the same bytes, preset and engine give the same bytes. */
  engine?: string
  facts?: Facts
  cost?: Cost
  /** Where a moderator is configured; rejected withholds the outputs. */
  moderation?: {
    verdict: 'approved' | 'rejected'
    labels: string[]
  }
  /** FAILED: why. */
  error?: JobError
  warnings: Warning[]
  /** Sent with a key: until when at least the same key answers with this job. */
  idempotency_expires_at?: string
}

export type Image = {
  /** Where its bytes are. */
  url: string
  /** By the bytes, whatever the request said. */
  content_type:
    | 'image/jpeg'
    | 'image/png'
    | 'image/webp'
    | 'image/gif'
    | 'image/avif'
    | 'image/tiff'
    | 'image/svg+xml'
  bytes: number
  sha256: string
  /** In pixels, as the image is seen: its orientation followed. */
  width: number
  height: number
}

export type Output = {
  name: string
  format: 'jpeg' | 'webp' | 'avif' | 'png' | 'gif'
  /** Where its bytes are. */
  url: string
  /** By the bytes, whatever the request said. */
  content_type:
    | 'image/jpeg'
    | 'image/png'
    | 'image/webp'
    | 'image/gif'
    | 'image/avif'
    | 'image/tiff'
    | 'image/svg+xml'
  bytes: number
  sha256: string
  /** In pixels, as the image is seen: its orientation followed. */
  width: number
  height: number
  /** 1: a still picture. */
  frames: number
  /** Of one turn of an animation. */
  duration_ms?: number
}

/** What the original is. */
export type Facts = {
  content_type:
    | 'image/jpeg'
    | 'image/png'
    | 'image/webp'
    | 'image/gif'
    | 'image/avif'
    | 'image/tiff'
    | 'image/svg+xml'
  /** In pixels, its orientation followed. */
  width: number
  height: number
  /** Frames of an animation, pages of a TIFF. */
  pages: number
  /** Of one turn of an animation. */
  duration_ms: unknown
  /** How often the animation plays; 0: for ever. */
  loop: unknown
  alpha: boolean
  colour_space: string
  /** The name of its colour profile. */
  profile: string | null
  bit_depth: number
  camera: unknown
  /** As the camera wrote it. */
  captured_at: string | null
  /** Only where the operator has turned it on. */
  gps?: {
    latitude: number
    longitude: number
  }
  /** A placeholder in base64: https://evanw.github.io/thumbhash/ */
  thumbhash: string
  dominant: string
  palette: string[]
}

export type Cost = {
  decode_ms: number
  resize_ms: number
  encode_ms: number
  peak_rss_bytes: number
}

/** What did not stop the job; the codes are stable. */
export type Warning = {
  code:
    | 'type_mismatch'
    | 'lenient_decode'
    | 'animation_dropped'
    | 'apng_as_still'
    | 'hdr_lost'
    | 'gain_map_lost'
    | 'bit_depth_reduced'
    | 'gamut_clipped'
    | 'profile_missing'
    | 'profile_broken'
    | 'output_clamped'
  message: string
}

export type Job = {
  /** A job’s id. */
  job_id: string
  status: JobStatus
  /** Whether the status is final: SUCCEEDED or FAILED. */
  done: boolean
  /** Where the job is. */
  url: string
  /** When it was accepted. */
  created_at: string
  /** When it ended. */
  finished_at?: string
  /** Not done: when it FAILs as expired unless it was begun by then. */
  expires_at?: string
  /** Until when original and outputs are kept at least; later once the job has ended. */
  result_expires_at?: string
  /** How often it was begun. */
  attempts: number
  preset: string
  strict: boolean
  /** Not done: what ended the last attempt. */
  last_error?: JobError
  /** Waiting for another attempt: not before. */
  next_attempt_at?: string
  original: Image
  /** SUCCEEDED: the first output; none where a moderator withholds it. */
  result?: string
  /** SUCCEEDED: the images made. */
  outputs?: Output[]
  /** What made the outputs: the same bytes, preset and engine give the same bytes. */
  engine?: string
  facts?: Facts
  cost?: Cost
  /** Where a moderator is configured; rejected withholds the outputs. */
  moderation?: {
    verdict: 'approved' | 'rejected'
    labels: string[]
  }
  /** FAILED: why. */
  error?: JobError
  warnings: Warning[]
}

export type JobList = {
  jobs: Job[]
  /** Of the next page; null on the last one. */
  next_cursor: string | null
}

export type CallbackList = {
  callbacks: Callback[]
}

export type Callback = {
  /** A callback’s id: its webhook-id. */
  callback_id: string
  event: 'job.succeeded' | 'job.failed'
  url: string
  state: 'PENDING' | 'DELIVERED' | 'GIVEN_UP' | 'DISABLED'
  /** When the job ended: a callback is owed from then on. */
  created_at: string
  /** Not PENDING: since when. */
  finished_at?: string
  /** How often it was sent, since it was owed or last asked for. */
  attempts: number
  /** PENDING: when it is sent next; while it is being sent, when that counts as lost. */
  next_attempt_at?: string
  /** The newest 100 attempts, oldest first. */
  deliveries: {
    /** When it was sent. */
    at: string
    duration_ms: number
    /** What the receiver answered. */
    status_code?: number
    /** Why there was no answer. */
    error?:
      | 'no_secret'
      | 'name_unknown'
      | 'address_refused'
      | 'connection_refused'
      | 'connection_lost'
      | 'tls_failed'
      | 'malformed_answer'
      | 'timeout'
  }[]
}

export type Webhook = {
  type: 'job.succeeded' | 'job.failed'
  /** When the job ended. */
  timestamp: string
  data: {
    /** A job’s id. */
    job_id: string
    status: JobStatus
    done: true
    /** Where the job is. */
    url: string
    /** When the job ended. */
    finished_at: string
    error?: JobError
  }
}

/** Every code that a problem may have, beside those of failed jobs. */
export type ProblemCode =
  | 'malformed_url'
  | 'malformed_request'
  | 'empty_body'
  | 'idempotency_key_malformed'
  | 'idempotency_key_missing'
  | 'content_digest_malformed'
  | 'host_missing'
  | 'unauthorized'
  | 'moderation_rejected'
  | 'not_found'
  | 'no_such_job'
  | 'no_such_output'
  | 'no_such_callback'
  | 'method_not_allowed'
  | 'headers_timeout'
  | 'upload_timeout'
  | 'upload_too_slow'
  | 'upload_in_progress'
  | 'not_done'
  | 'already_done'
  | 'callback_in_flight'
  | 'gone'
  | 'changed'
  | 'too_large'
  | 'unsupported_type'
  | 'range_not_satisfiable'
  | 'expectation_failed'
  | 'idempotency_key_reused'
  | 'content_digest_mismatch'
  | 'invalid_parameter'
  | 'callback_url_refused'
  | 'unknown_preset'
  | 'corrupt'
  | 'truncated'
  | 'too_many_pixels'
  | 'too_many_frames'
  | 'rate_limited'
  | 'too_many_jobs'
  | 'too_many_uploads'
  | 'too_many_streams'
  | 'headers_too_large'
  | 'internal'
  | 'method_not_implemented'
  | 'unavailable'
  | 'not_ready'
