import type { ImageWarning } from './image/warnings.ts'
import type { RenderCost, SourceFacts } from './ports/renderer.ts'
import { DEFAULT_PRESET, DEFAULT_PRESET_NAME, type OutputFormat, type Preset } from './preset.ts'

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
  options: JobOptions
  warnings: ImageWarning[]
  outputs: Output[] | null
  /** What was learnt while the job was done; null before, and for a job that failed. */
  result: JobResult | null
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

/** What the request asked for, resolved when it was accepted. */
export interface JobOptions {
  /** The preset's name. */
  preset: string
  /** The preset as it stood then. */
  plan: Preset
  /** Refuse what can only be decoded leniently. */
  strict: boolean
}

/** Of a request that asks for nothing, and of a job from before there were options. */
export const DEFAULT_OPTIONS: JobOptions = {
  preset: DEFAULT_PRESET_NAME,
  plan: DEFAULT_PRESET,
  strict: false,
}

/** One variant of an output as it was stored. Variants of one output differ in their format. */
export interface Output {
  name: string
  key: string
  contentType: string
  bytes: number
  sha256: string
  width: number
  height: number
  format: OutputFormat
  /** 1 for a still picture. */
  frames: number
  /** Of one turn of the animation; null for a still picture. */
  durationMs: number | null
}

export interface JobResult {
  /** Of the renderer that made the outputs. */
  engine: string
  facts: SourceFacts
  cost: RenderCost
  /** null where no moderator is configured. */
  moderation: Moderation | null
}

/** A moderator's verdict. `rejected` withholds the outputs. */
export interface Moderation {
  verdict: 'approved' | 'rejected'
  labels: string[]
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
