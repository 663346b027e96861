import type { JobError, JobStatus } from './job.ts'

/**
 * The events that change a job's status, and what it is afterwards. The table records more than these: what happens to a
 * job's message is nothing that clients wait for.
 */
export const STATUS_AFTER = {
  accepted: 'QUEUED',
  claimed: 'RUNNING',
  put_back: 'QUEUED',
  rescued: 'QUEUED',
  redriven: 'QUEUED',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
} as const satisfies Record<string, JobStatus>

export type TransitionEvent = keyof typeof STATUS_AFTER

export const TRANSITION_EVENTS = Object.keys(STATUS_AFTER) as TransitionEvent[]

/** One change of a job's status, as it was recorded in the statement that made it. */
export interface Transition {
  /** A whole number, as text. Rises with each transition of a job. */
  eventId: string
  jobId: string
  event: TransitionEvent
  /** When its statement began, by the database's clock. */
  at: Date
  fence: number
  /** How much of the budget was spent by then. */
  attempts: number
  /** Of a `failed` one. */
  error: JobError | null
}
