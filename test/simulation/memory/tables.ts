import type { CallbackEvent } from '../../../core/callback.ts'
import type { ImageWarning } from '../../../core/image/warnings.ts'
import type {
  Job,
  JobError,
  JobOptions,
  JobResult,
  JobStatus,
  OriginalFacts,
  Output,
} from '../../../core/job.ts'
import type { DeadLetterVerdictName, JobEvent } from '../../../db/schema.ts'

/** The tables of `db/schema.ts` in memory, with times in milliseconds. One call is one transaction. */
export interface Tables {
  /** The database's clock. */
  now(): number
  /** Ids need not rise: a transaction may take its id first and commit last. */
  nextOutboxId(): number
  jobs: Map<string, JobRow>
  /** By job: one row a job. */
  outbox: Map<string, OutboxTableRow>
  /** By tenant and key, see {@link recordId}. */
  idempotencyRecords: Map<string, IdempotencyRecord>
  /** By operation id. */
  processedOperations: Map<string, { jobId: string; at: number }>
  /** In the order of their ids. */
  jobEvents: JobEventRow[]
  nextEventId(): number
  deadLetters: DeadLetterRow[]
  /** By id. What is owed; sending is not simulated. */
  callbacks: Map<string, CallbackRow>
}

export interface JobEventRow {
  eventId: number
  jobId: string
  event: JobEvent
  at: number
  fence: number
  attempts: number
  /** Of the job's failure. */
  error: JobError | null
}

export interface JobRow {
  jobId: string
  tenant: string
  status: JobStatus
  fence: number
  attempts: number
  generation: number
  runAt: number
  publishedAt: number | null
  claimedAt: number | null
  leaseOwner: string | null
  leaseUntil: number | null
  objectKey: string
  original: OriginalFacts
  options: JobOptions
  warnings: ImageWarning[]
  outputs: Output[] | null
  result: JobResult | null
  error: JobError | null
  lastError: JobError | null
  republications: number
  republishedAt: number | null
  redrivenGeneration: number
  createdAt: number
  deadlineAt: number
  finishedAt: number | null
  deletedAt: number | null
  objectsDeletedAt: number | null
  callbackUrl: string | null
  traceparent: string | null
}

export interface OutboxTableRow {
  outboxId: number
  jobId: string
  claimToken: string | null
  claimedUntil: number | null
  tries: number
}

export interface IdempotencyRecord {
  tenant: string
  key: string
  token: string
  leaseUntil: number
  fingerprint: string | null
  jobId: string | null
}

export interface DeadLetterRow {
  messageId: string | null
  jobId: string | null
  generation: number | null
  body: string | null
  reason: string
  receiveCount: number
  verdict: DeadLetterVerdictName
}

export interface CallbackRow {
  callbackId: string
  jobId: string
  tenant: string
  event: CallbackEvent
  url: string
  error: JobError | null
  createdAt: number
}

export function createTables(now: () => number, nextOutboxId = rising()): Tables {
  return {
    now,
    nextOutboxId,
    jobs: new Map(),
    outbox: new Map(),
    idempotencyRecords: new Map(),
    processedOperations: new Map(),
    jobEvents: [],
    nextEventId: rising(),
    deadLetters: [],
    callbacks: new Map(),
  }
}

function rising(): () => number {
  let last = 0
  return () => ++last
}

export function recordId({ tenant, key }: { tenant: string; key: string }): string {
  return `${tenant}\0${key}`
}

export function appendEvent(tables: Tables, event: JobEvent, row: JobRow): void {
  const { jobId, fence, attempts } = row
  const error = event === 'failed' ? structuredClone(row.error) : null
  tables.jobEvents.push({
    eventId: tables.nextEventId(),
    jobId,
    event,
    at: tables.now(),
    fence,
    attempts,
    error,
  })
}

/** One row a job: a second writer changes nothing. */
export function insertOutboxRow(tables: Tables, jobId: string): void {
  if (tables.outbox.has(jobId)) return
  const outboxId = tables.nextOutboxId()
  tables.outbox.set(jobId, { outboxId, jobId, claimToken: null, claimedUntil: null, tries: 0 })
}

/** One record a message. */
export function insertDeadLetter(tables: Tables, letter: DeadLetterRow): void {
  const { messageId, jobId, generation, body, reason, receiveCount, verdict } = letter
  if (messageId !== null && tables.deadLetters.some((row) => row.messageId === messageId)) return
  tables.deadLetters.push({ messageId, jobId, generation, body, reason, receiveCount, verdict })
}

export function isHeld(tables: Tables, row: JobRow): boolean {
  return row.status === 'RUNNING' && row.leaseUntil! > tables.now()
}

export function hasRunOut(tables: Tables, row: JobRow): boolean {
  return row.status === 'RUNNING' && row.leaseUntil! <= tables.now()
}

export function toJob(tables: Tables, row: JobRow): Job {
  const waitsUntil = row.status === 'RUNNING' ? row.leaseUntil! : row.runAt
  return {
    jobId: row.jobId,
    tenant: row.tenant,
    status: row.status,
    fence: row.fence,
    attempts: row.attempts,
    generation: row.generation,
    runAt: new Date(row.runAt),
    publishedAt: date(row.publishedAt),
    leaseUntil: date(row.leaseUntil),
    held: isHeld(tables, row),
    claimableInMs: Math.max(0, waitsUntil - tables.now()),
    objectKey: row.objectKey,
    original: structuredClone(row.original),
    options: structuredClone(row.options),
    warnings: structuredClone(row.warnings),
    outputs: structuredClone(row.outputs),
    result: structuredClone(row.result),
    error: structuredClone(row.error),
    lastError: structuredClone(row.lastError),
    createdAt: new Date(row.createdAt),
    deadlineAt: new Date(row.deadlineAt),
    finishedAt: date(row.finishedAt),
    deletedAt: date(row.deletedAt),
  }
}

function date(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
