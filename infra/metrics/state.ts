import { Gauge, type Registry } from 'prom-client'
import { withDeadline } from '../../core/deadline.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Queue, QueueDepth, Queues } from '../../core/ports/queue.ts'
import type { ServiceState } from '../../db/state.ts'

/** For how long a reading is good: however many scrape, and however often, the database is asked no more often. */
const FRESH_MS = 5_000
/** How long a scrape waits for the queues, and then for the database: together less than Prometheus waits, 10 seconds. */
const PATIENCE_MS = 3_000

export interface StateParts {
  queues: Queues
  /** @param queueEmpty whether the queue of jobs says that it has no message */
  readState: (queueEmpty: boolean) => Promise<ServiceState>
  clock: Clock
}

/**
 * Tells how the service as a whole stands, by the database and the queues, read when somebody scrapes. What cannot be read
 * is absent, and told of by `img42_state_up`; a scrape never fails for it.
 */
export function observeState(registry: Registry, { queues, readState, clock }: StateParts): void {
  let reading: { at: number; done: Promise<void> } | null = null
  const fresh = () => {
    if (!reading || clock.now() - reading.at >= FRESH_MS) reading = { at: clock.now(), done: read() }
    return reading.done
  }
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers: [registry], collect: fresh })

  const up = gauge('img42_state_up', 'Whether the last reading succeeded', 'source')
  const messages = gauge('img42_queue_messages', 'Messages of the queues', 'queue', 'state')
  const ofDatabase = {
    outboxRows: gauge('img42_outbox_rows', 'Rows that wait to be published'),
    oldestOutboxRowAgeSeconds: gauge('img42_outbox_oldest_age_seconds', 'Age of the oldest of them'),
    oldestUnheardAgeSeconds: gauge(
      'img42_oldest_queued_without_message_age_seconds',
      'Silence of the quietest QUEUED job that seems to have no message',
    ),
    oldestMessageAgeSeconds: gauge(
      'img42_oldest_message_age_seconds',
      'Since when the oldest published job waits',
    ),
    oldestTransactionAgeSeconds: gauge(
      'img42_database_oldest_transaction_age_seconds',
      'Age of the oldest open transaction',
    ),
  }
  const jobs = gauge('img42_jobs', 'Jobs that have not ended', 'status')
  const oldestJob = gauge('img42_oldest_job_age_seconds', 'Age of the oldest job that has not ended', 'class')
  const deadLetters = gauge('img42_dead_letters_last_hour', 'Dead letters of the last hour', 'kind')
  const deadTuples = gauge('img42_database_dead_tuples', 'Dead rows of the hot tables', 'table')

  /** @returns what was read; null where it could not be */
  async function attempt<T>(source: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const answer = await withDeadline(clock, PATIENCE_MS, undefined, ask).catch(() => null)
    up.set({ source }, answer === null ? 0 : 1)
    return answer
  }

  async function readDepth(queue: 'jobs' | 'dead_letters', { depth }: Queue): Promise<QueueDepth | null> {
    const counts = await attempt(queue, depth)
    for (const [state, field] of DEPTHS) {
      if (counts) messages.set({ queue, state }, counts[field])
      else messages.remove({ queue, state })
    }
    return counts
  }

  async function read(): Promise<void> {
    const [depth] = await Promise.all([
      readDepth('jobs', queues.jobs),
      readDepth('dead_letters', queues.deadLetters),
    ])
    const queueEmpty = depth !== null && depth.visible + depth.inFlight + depth.delayed === 0
    const state = await attempt('database', () => readState(queueEmpty))
    for (const metric of [jobs, oldestJob, deadLetters, deadTuples]) metric.reset()
    for (const [field, metric] of Object.entries(ofDatabase)) {
      if (state) metric.set(state[field as keyof typeof ofDatabase])
      else metric.remove()
    }
    if (!state) return
    jobs.set({ status: 'QUEUED' }, state.queuedJobs)
    jobs.set({ status: 'RUNNING' }, state.runningJobs)
    oldestJob.set({ class: 'default' }, state.oldestJobAgeSeconds)
    deadLetters.set({ kind: 'true' }, state.deadLettersLastHour - state.falseDeadLettersLastHour)
    deadLetters.set({ kind: 'false' }, state.falseDeadLettersLastHour)
    for (const [table, rows] of Object.entries(state.deadTuples)) deadTuples.set({ table }, rows)
  }
}

const DEPTHS = [
  ['visible', 'visible'],
  ['in_flight', 'inFlight'],
  ['delayed', 'delayed'],
] as const
