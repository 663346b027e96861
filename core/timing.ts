/**
 * Every duration of the protocol. They lean on each other, so they are checked together: {@link brokenTimingRules}
 * says which of the rules a set breaks, and a process whose configuration breaks one does not start.
 */
export interface Timing {
  /** How often a holder of a job renews the row's lease and the message's visibility. Defaults to 10 s. */
  heartbeatMs: number
  /** How long a claim holds a job without a heartbeat. Defaults to 30 s. */
  leaseMs: number
  /** How long the queue hides a received message. The queue's own setting has to be the same. Defaults to 30 s. */
  visibilitySeconds: number
  /** How long after a lease ran out the reconciler leaves the job to a redelivery. Defaults to 60 s. */
  graceMs: number
  /** How long a QUEUED job goes without a sign before it may count as lost. Defaults to 5 min. */
  republishAgeMs: number
  /** How much later than a job another has to be published, and claimed, to show that the queue has moved past the
   * first; also the time between two readings that show the queue empty. Defaults to 1 min. */
  evidenceMs: number
  /** The longest that one attempt may take, all in all. Defaults to 10 min. */
  attemptMs: number
  /** How long an attempt given up for a failing dependency or a charged failure waits at first, and at most. */
  backoffBaseMs: number
  backoffCapMs: number
  /** How long one receive waits for messages. Defaults to 20 s. */
  pollSeconds: number
  /** How long a stopping worker lets its attempts go on. Defaults to 30 s. */
  drainMs: number
  /** How long after SIGTERM the platform sends SIGKILL; compose and ECS are set to it. Defaults to 60 s. */
  stopGraceMs: number
  /** How long a job may wait and be retried before it fails as expired. Defaults to 24 h. */
  deadlineMs: number
  /** How long an upload holds its idempotency key without renewing. Defaults to 10 s. */
  reservationMs: number
  /** The longest that an upload may take. Defaults to 1 h. */
  uploadMs: number
  /** How long a relay has to send the outbox rows it claimed before another may. Defaults to 30 s. */
  outboxLeaseMs: number
  /** How often the relay looks at the outbox when no notification wakes it. Defaults to 1 s. */
  relayPollMs: number
  /** How often each sweep runs. Defaults to 10 s. */
  sweepMs: number
  /** The deadline of one call to the database or the queue. Defaults to 5 s. */
  callMs: number
  /** The deadline of one call to the object store, its body included. Defaults to 60 s. */
  storeCallMs: number
  /** How long a finished job's objects are kept; then the job answers 410. Defaults to 7 days. */
  resultRetentionMs: number
  /** How long a tombstone, and the idempotency record with it, stays after that. Defaults to 30 days. */
  tombstoneRetentionMs: number
  /** How old an object without a job has to be to count as left behind. Defaults to 24 h. */
  orphanAgeMs: number
  /** How long the queue keeps a message, and how long its dead-letter queue does. Default to 7 and 14 days. */
  queueRetentionMs: number
  deadLetterRetentionMs: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const DEFAULT_TIMING: Timing = {
  heartbeatMs: 10 * SECOND,
  leaseMs: 30 * SECOND,
  visibilitySeconds: 30,
  graceMs: MINUTE,
  republishAgeMs: 5 * MINUTE,
  evidenceMs: MINUTE,
  attemptMs: 10 * MINUTE,
  backoffBaseMs: 2 * SECOND,
  backoffCapMs: 5 * MINUTE,
  pollSeconds: 20,
  drainMs: 30 * SECOND,
  stopGraceMs: MINUTE,
  deadlineMs: DAY,
  reservationMs: 10 * SECOND,
  uploadMs: HOUR,
  outboxLeaseMs: 30 * SECOND,
  relayPollMs: SECOND,
  sweepMs: 10 * SECOND,
  callMs: 5 * SECOND,
  storeCallMs: MINUTE,
  resultRetentionMs: 7 * DAY,
  tombstoneRetentionMs: 30 * DAY,
  orphanAgeMs: DAY,
  queueRetentionMs: 7 * DAY,
  deadLetterRetentionMs: 14 * DAY,
}

/** The sentences, one for each rule that `timing` breaks; empty for a set that holds together. */
export function brokenTimingRules(timing: Timing): string[] {
  const t = timing
  const rules: [holds: boolean, sentence: string][] = [
    [
      t.heartbeatMs * 2 < t.leaseMs,
      'two heartbeats fit into the lease: one lost heartbeat must not lose the job',
    ],
    [t.callMs < t.leaseMs, 'a heartbeat has its answer, or knows that it has none, within the lease'],
    [
      t.leaseMs <= t.visibilitySeconds * SECOND,
      'the lease ends no later than the visibility: an earlier redelivery would find it alive',
    ],
    [
      t.graceMs >= 2 * t.visibilitySeconds * SECOND,
      'the grace is at least twice the visibility: a redelivery comes first',
    ],
    [t.graceMs < t.republishAgeMs, 'the grace is shorter than the re-publish age'],
    [t.evidenceMs < t.republishAgeMs, 'the evidence is younger than the re-publish age'],
    [t.attemptMs < 12 * HOUR, 'an attempt ends within 12 hours, the longest that SQS hides a message'],
    [t.attemptMs < t.deadlineMs, 'an attempt is shorter than the job’s deadline'],
    [t.pollSeconds <= 20, 'a poll waits at most 20 s, as SQS allows'],
    [
      t.pollSeconds * SECOND + t.drainMs < t.stopGraceMs,
      'a poll and the drain end before the platform kills the process',
    ],
    [t.uploadMs < t.orphanAgeMs, 'an upload ends before its object counts as left behind'],
    [t.deadlineMs < t.queueRetentionMs, 'the queue keeps a message for longer than its job may wait'],
    [
      t.queueRetentionMs + t.deadLetterRetentionMs < t.resultRetentionMs + t.tombstoneRetentionMs,
      'a job’s row outlives every message of it',
    ],
  ]
  return rules.filter(([holds]) => !holds).map(([, sentence]) => sentence)
}
