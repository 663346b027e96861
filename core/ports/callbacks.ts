import type { CallbackFacts, CallbackState } from '../callback.ts'
import type { CallbackVerdict, SendError, SendOutcome } from '../callback-schedule.ts'

/**
 * What is owed to receivers, and how it went. It is owed by the statement that ends a job ({@link Work.end}); here it is
 * sent. Every method rejects with a {@link DependencyError} when the database cannot be asked or its answer was lost.
 */
export interface Callbacks {
  /**
   * Up to `max` callbacks that are due, held under `token` for `leaseMs`, those that were never sent first. No more than
   * `perHost` are held for one receiver at a time, and `perTenant` for one tenant, by all senders together: whoever
   * keeps senders waiting keeps a few of them. Two that claim at once may each go up to the limit.
   *
   * Each claim counts as a send. A callback whose sender died is due again when the lease has run out.
   */
  claim(claim: {
    token: string
    max: number
    leaseMs: number
    perHost: number
    perTenant: number
  }): Promise<DueCallback[]>
  /**
   * Appends a send to the callback's log and, where it is still held under `token`, writes what becomes of it.
   * `DISABLED` stops all that is owed to the same URL of the tenant, now and later; `DELIVERED` lifts that.
   */
  record(send: {
    callbackId: string
    token: string
    durationMs: number
    outcome: SendOutcome
    verdict: CallbackVerdict
  }): Promise<void>
  /** The job's callbacks, oldest first, each with its newest {@link SHOWN_ATTEMPTS} attempts, oldest first. */
  list(jobId: string): Promise<Callback[]>
  /**
   * Makes a callback due at once, whatever became of it, with all of its tries before it. `in_flight`: it is being sent;
   * nothing was changed. `unknown`: the job has no such callback.
   */
  resend(callback: { jobId: string; callbackId: string }): Promise<'due' | 'in_flight' | 'unknown'>
}

export interface DueCallback extends CallbackFacts {
  tenant: string
  url: string
  /** How often it has been claimed, this time included. */
  sends: number
  /** The tenant's secrets that are valid now, newest first. */
  secrets: string[]
  /** Of the request that the job came with; null without. */
  traceparent: string | null
}

export interface Callback extends CallbackFacts {
  url: string
  state: CallbackState
  /** How often it was sent since it was owed or last asked for. */
  sends: number
  /** While it is PENDING. */
  nextAttemptAt: Date | null
  /** Since when it is not. */
  finishedAt: Date | null
  attempts: CallbackAttempt[]
}

/** One send: either an answer or why there was none. */
export interface CallbackAttempt {
  at: Date
  durationMs: number
  statusCode: number | null
  error: SendError | null
}

export const SHOWN_ATTEMPTS = 100
