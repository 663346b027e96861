import type { ImageWarning } from '../image/warnings.ts'
import type { Job, JobError, JobOptions, JobResult, JobStatus, OriginalFacts, Output } from '../job.ts'
import type { Transition } from '../transition.ts'

/**
 * The table: the only truth about a job. Each method is one transaction, most of them one statement, and each
 * transition is conditional: when the row is no longer as the caller believes, nothing changes and the answer says so.
 * All times are the database's.
 *
 * Every method has a deadline of its own and rejects with a {@link DependencyError} when the database cannot be asked
 * or its answer was lost; the effect may have happened.
 */
export interface Jobs extends Admission, Publishing, Work, Sweeps, Reading {
  /** Resolves when the database answers. */
  ping(): Promise<void>
}

/** Reserve and accept. */
export interface Admission {
  /**
   * Takes the key for this upload, for `leaseMs`. A key whose holder's lease ran out is free again. `token` tells one
   * upload's reservation from another's.
   */
  reserve(reservation: Reservation & { leaseMs: number }): Promise<ReserveOutcome>
  /** False when the reservation is no longer this upload's. */
  renewReservation(reservation: Reservation & { leaseMs: number }): Promise<boolean>
  /** Frees the key, unless its job was accepted. After it, the upload of this token can no longer be accepted. */
  releaseReservation(reservation: Reservation): Promise<void>
  /**
   * Inserts the job, its outbox row and its first event, and ties the idempotency record to it, in one statement.
   * `reservation_lost`: the token no longer holds the key; nothing was inserted.
   */
  accept(job: NewJob): Promise<AcceptOutcome>
}

export interface Reservation {
  tenant: string
  key: string
  token: string
}

export type ReserveOutcome =
  | { kind: 'reserved' }
  /** Another upload holds the key. */
  | { kind: 'in_progress'; retryInMs: number }
  /** The key has a job already; `fingerprint` is what its request looked like. */
  | { kind: 'accepted'; jobId: string; fingerprint: string }

export type AcceptOutcome =
  | { kind: 'accepted'; createdAt: Date; deadlineAt: Date }
  | { kind: 'reservation_lost' }

export interface NewJob {
  jobId: string
  tenant: string
  objectKey: string
  original: OriginalFacts
  options: JobOptions
  warnings: ImageWarning[]
  /** How long from now the job may wait and be retried. */
  deadlineMs: number
  /** Where to tell of its end; null for the tenant's, if it has one. */
  callbackUrl: string | null
  /** The trace of its request (`traceparent`, W3C Trace Context); null without. */
  traceparent: string | null
  idempotency: { key: string; token: string; fingerprint: string } | null
}

/** What clients ask about their jobs. */
export interface Reading {
  find(jobId: string): Promise<Job | null>
  /** The job that the tenant's idempotency key stands for. */
  findByKey(key: { tenant: string; key: string }): Promise<Job | null>
  /** Those of the jobs that are terminal, as they stand. One statement, however many they are. */
  endedAmong(jobIds: readonly string[]): Promise<Job[]>
  /**
   * The transitions of each job that came after the one named with it, in the order of their ids; `afterId` '0' for all.
   * One statement, however many jobs.
   *
   * Of one job, ids rise in the order of the commits, so that nothing ever appears before what was read: each transition
   * changes the job's row before it takes its id, and holds the row's lock until it is committed. Of two jobs they don't.
   */
  transitionsAfter(followed: readonly { jobId: string; afterId: string }[]): Promise<Transition[]>
  /**
   * A page of the tenant's jobs that are no tombstones, newest first, at most `limit`, those after `cursor`. Newest first
   * because a job may be committed after one that is younger: a walk from the oldest on would miss it for ever, this one
   * meets all that were there when it began.
   */
  list(page: {
    tenant: string
    status: JobStatus | null
    createdAfter: Date | null
    cursor: ListCursor | null
    limit: number
  }): Promise<JobPage>
  /** How fast jobs are done at the moment. */
  queuePace(): Promise<QueuePace>
}

/** The last job of a page. */
export interface ListCursor {
  /** When it was accepted, in microseconds since the epoch, which is what the database tells times apart by. */
  createdAtUs: string
  jobId: string
}

export interface JobPage {
  jobs: Job[]
  /** Of the next page; null on the last one. */
  next: ListCursor | null
}

/** How fast jobs are done, as the newest {@link PACE_JOBS} of those that ended within {@link PACE_WINDOW_MS} tell. */
export interface QueuePace {
  /** How many of them there were. */
  ended: number
  /** From the first of their ends until now, in milliseconds. */
  withinMs: number
  /** The median time from a claim to the end, in milliseconds; null where none of them was claimed. */
  workMs: number | null
  /** Jobs that are RUNNING. */
  running: number
  /** Jobs that are QUEUED and due, counted up to {@link PACE_WAITING}. */
  waiting: number
  /** Since when the oldest and the newest of them have been due; null where there is none. */
  oldestDueAt: Date | null
  newestDueAt: Date | null
  /** For how long the oldest has been due, in milliseconds. */
  oldestWaitedMs: number
}

export const PACE_JOBS = 100
export const PACE_WINDOW_MS = 600_000
export const PACE_WAITING = 10_000

/** The relay's side of the outbox. */
export interface Publishing {
  /**
   * Up to `max` rows that nobody holds, in the order of their ids among those visible now, held under `token` for
   * `leaseMs`. Ids do not commit in order: a lower one may appear after a higher one is gone, and is returned then.
   */
  claimOutbox(claim: { token: string; max: number; leaseMs: number }): Promise<OutboxRow[]>
  /** Removes the rows that are still held under `token` and sets their jobs' `publishedAt` to now. */
  confirmPublished(confirmation: { token: string; rowIds: readonly string[] }): Promise<void>
  /** Gives rows that are still held under `token` back, to be claimed again after `delayMs`. */
  returnToOutbox(given: { token: string; rowIds: readonly string[]; delayMs: number }): Promise<void>
  /**
   * For a row that the queue will never take: removes it, records the dead letter and fails its job
   * (`publish_refused`) unless that is terminal, in one transaction. While a live lease holds the job, the row goes back
   * until that ends instead: the holder may need no message, or be gone.
   */
  refusePublication(refusal: { token: string; rowId: string; body: string; reason: string }): Promise<void>
}

export interface OutboxRow {
  rowId: string
  jobId: string
  objectKey: string
  generation: number
  /** The job's. */
  traceparent: string | null
  /** How often the row was claimed, this time included. */
  tries: number
}

/** A worker's side: claim, hold, end. */
export interface Work {
  /**
   * Claims a QUEUED job that is due, or a RUNNING one whose lease ran out: RUNNING, fence and attempts one higher, the
   * lease from now. A job whose budget is spent or whose deadline has passed is failed instead.
   *
   * `owner` is one process, which never claims a job that it is running: a job that it holds already is one whose claim
   * it never heard the answer of. It is answered as claimed again, with the same fence and nothing more charged, so that a
   * claim may be repeated, and one that arrives late takes nothing from its own process.
   */
  claim(claim: { jobId: string; owner: string; leaseMs: number; budget: number }): Promise<ClaimOutcome>
  /** Extends the lease from now; false when the fence is no longer this attempt's. */
  heartbeat(heartbeat: { jobId: string; fence: number; leaseMs: number }): Promise<boolean>
  /**
   * The one statement that ends a job, with everything that the end owes: outputs, result, marker, event, callback, dead
   * letter. False when the row was no longer the caller's to end; nothing was written then.
   */
  end(end: JobEnd): Promise<boolean>
  /**
   * Puts the held job back to QUEUED, to be claimed after `delayMs`, with its fence one higher. `charged: false` gives
   * the attempt back to the budget. False when the fence is no longer this attempt's.
   */
  putBack(given: {
    jobId: string
    fence: number
    charged: boolean
    delayMs: number
    error: JobError | null
  }): Promise<boolean>
}

export type ClaimOutcome =
  | { kind: 'claimed'; fence: number; attempt: number; job: Job }
  /** Not due yet, or held by another worker. */
  | { kind: 'not_yet'; retryInMs: number }
  /** Terminal, now or before. */
  | { kind: 'finished' }
  | { kind: 'unknown' }

export interface JobEnd {
  jobId: string
  /**
   * Who ends it. `holder`: the attempt of this fence. `sweep`: anybody who read the job at this fence, and only while no
   * live lease holds it. `owner`: the client, whatever the job is doing.
   */
  by: { kind: 'holder'; fence: number } | { kind: 'sweep'; fence: number } | { kind: 'owner' }
  end:
    | { status: 'SUCCEEDED'; outputs: Output[]; warnings: ImageWarning[]; result: JobResult }
    | { status: 'FAILED'; error: JobError }
  /** To be recorded together with the end. */
  deadLetter?: DeadLetter
}

export interface DeadLetter {
  /** The broker's id of the message; null where no message was involved. One record a message. */
  messageId: string | null
  body: string | null
  reason: string
  receiveCount: number
}

/** What the reconciler asks for. Each acts on at most `max` jobs and returns the ids of those it acted on. */
export interface Sweeps {
  /**
   * QUEUED jobs, begun before or not, that have no outbox row and nothing heard of for `ageMs` (doubling with each
   * re-publication of the same job since it was last claimed), where the queue has moved past them or `queueEmpty` → a new outbox row each.
   * Moved past: a job of the same tenant that was published at least `evidenceMs` later was claimed since; any
   * tenant's where that tenant has published none later.
   */
  republishLost(sweep: {
    ageMs: number
    evidenceMs: number
    queueEmpty: boolean
    max: number
  }): Promise<string[]>
  /**
   * RUNNING jobs whose lease ran out more than `graceMs` ago → QUEUED with an outbox row, their fence one higher, or
   * failed (`attempts_exhausted`) when the budget is spent.
   */
  rescue(sweep: { graceMs: number; budget: number; max: number }): Promise<string[]>
  /** QUEUED jobs past their deadline → failed (`expired`). */
  expire(sweep: { max: number }): Promise<string[]>
  /**
   * Takes in one message of the dead-letter queue. The record and its effect on the job are one transaction; a message
   * that is recorded already changes nothing and is answered as it was then. `hold`: a live lease holds the job; look
   * at the message again after `retryInMs`.
   */
  takeDeadLetter(
    letter: DeadLetter & {
      messageId: string
      jobId: string | null
      generation: number | null
      budget: number
    },
  ): Promise<DeadLetterVerdict>
  /** Records a message of the jobs' queue that no version here can read, before it is deleted. */
  parkMessage(letter: DeadLetter & { messageId: string }): Promise<void>
  /** Makes a tombstone of a job, ending it first (`deleted`) if it was not terminal. False when there is no such job. */
  bury(jobId: string): Promise<boolean>
  /** Finished jobs older than `ageMs` → tombstones. */
  buryFinished(sweep: { ageMs: number; max: number }): Promise<string[]>
  /** Tombstones whose objects are not yet known to be gone. */
  tombstonesWithObjects(sweep: { max: number }): Promise<string[]>
  /** Notes that the tombstones' objects are gone. */
  confirmObjectsGone(jobIds: readonly string[]): Promise<void>
  /** Tombstones older than `ageMs`, to be forgotten. */
  oldTombstones(sweep: { ageMs: number; max: number }): Promise<string[]>
  /** Deletes tombstones with their events, markers and idempotency records. */
  forget(jobIds: readonly string[]): Promise<void>
  /** Deletes reservations whose upload died more than `ageMs` ago. */
  forgetReservations(sweep: { ageMs: number }): Promise<void>
  /** Those of the ids that have a row. */
  existing(jobIds: readonly string[]): Promise<string[]>
}

export type DeadLetterVerdict =
  /** The job had finished: it was no dead letter. */
  | { kind: 'false_quarantine' }
  /** Of a generation that an operator's retry has replaced. */
  | { kind: 'superseded' }
  | { kind: 'republished' }
  | { kind: 'failed' }
  | { kind: 'no_such_job' }
  | { kind: 'hold'; retryInMs: number }
