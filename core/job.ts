import type { ImageWarning } from './image/warnings.ts'

/**
 * `QUEUED → RUNNING → SUCCEEDED | FAILED`; `RUNNING → QUEUED` when an attempt ends without a verdict or its lease runs
 * out; `QUEUED → FAILED` by cancel, deadline or an exhausted budget. Four states, no more: why a job failed is its code.
 */
export type JobStatus = 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED'

export function isTerminal(status: JobStatus): boolean {
  return status === 'SUCCEEDED' || status === 'FAILED'
}

/** A job as its row stands; times by the database's clock. */
export interface Job {
  jobId: string
  tenant: string
  status: JobStatus
  /** Only ever rises: with each claim, release, rescue, cancel and retry. A write with an older one changes nothing. */
  fence: number
  /** How much of the budget is spent. */
  attempts: number
  /** Rises with an operator's retry, which gives a fresh budget. */
  generation: number
  /** Not to be begun before. */
  runAt: Date
  /** When a message for it was last confirmed by the queue. */
  publishedAt: Date | null
  leaseUntil: Date | null
  /** Whether a worker holds it now, by the database's clock. */
  held: boolean
  /** For how long it is not to be claimed: until {@link runAt}, or until the lease of its holder ends; 0 for now. */
  claimableInMs: number
  objectKey: string
  original: OriginalFacts
  warnings: ImageWarning[]
  outputs: Output[] | null
  error: JobError | null
  /** What ended the last attempt that had no verdict. */
  lastError: JobError | null
  createdAt: Date
  deadlineAt: Date
  finishedAt: Date | null
  /** Since when the job is only a tombstone, its objects gone or about to go. */
  deletedAt: Date | null
}

/** What was learnt while the original was received. */
export interface OriginalFacts {
  /** By its bytes. */
  contentType: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
  width: number
  height: number
}

/** An output as it was stored. */
export interface Output {
  name: string
  key: string
  contentType: string
  bytes: number
  sha256: string
  width: number
  height: number
}

export interface JobError {
  code: JobErrorCode
  message: string
}

/** Stable: clients and operators program against these. */
export type JobErrorCode =
  | import('./errors.ts').PermanentCode
  | import('./errors.ts').WorkCode
  | 'dependency_unavailable'
  | 'attempts_exhausted'
  | 'dead_lettered'
  | 'publish_refused'
  | 'expired'
  | 'cancelled'
  | 'deleted'
