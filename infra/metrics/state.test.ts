import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { Queues } from '../../core/ports/queue.ts'
import type { ServiceState } from '../../db/state.ts'
import { observeState } from './state.ts'

const STATE: ServiceState = {
  ...{ queuedJobs: 3, runningJobs: 1, oldestJobAgeSeconds: 90, outboxRows: 2, oldestOutboxRowAgeSeconds: 4 },
  ...{ oldestMessageAgeSeconds: 80, oldestUnheardAgeSeconds: 70 },
  ...{ deadLettersLastHour: 5, falseDeadLettersLastHour: 2, oldestTransactionAgeSeconds: 6 },
  deadTuples: { jobs: 100 },
}
const HUNG = new Promise<never>(() => {})

function observed() {
  const registry = new Registry()
  const asked = { state: 0, queueEmpty: [] as boolean[] }
  const world = {
    now: 0,
    depth: async () => ({ visible: 1, inFlight: 2, delayed: 3 }),
    readState: async () => STATE,
  }
  const queue = { depth: () => world.depth() }
  observeState(registry, {
    queues: { jobs: queue, deadLetters: queue } as unknown as Queues,
    readState(queueEmpty) {
      asked.state += 1
      asked.queueEmpty.push(queueEmpty)
      return world.readState()
    },
    // The patience of a scrape is over at once.
    clock: {
      now: () => world.now,
      sleep: (_ms, signal) =>
        new Promise((resolve) => {
          const patience = setImmediate(resolve)
          signal?.addEventListener('abort', () => clearImmediate(patience))
        }),
    },
  })
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => /^\w/.test(line))
  return { world, asked, lines }
}

test('what the database and the queues say is told', async () => {
  const { lines } = observed()
  const told = await lines()
  expect(told).toEqual(
    expect.arrayContaining([
      'img42_jobs{status="QUEUED"} 3',
      'img42_outbox_oldest_age_seconds 4',
      'img42_oldest_job_age_seconds{class="default"} 90',
      'img42_oldest_message_age_seconds 80',
      'img42_oldest_queued_without_message_age_seconds 70',
      'img42_dead_letters_last_hour{kind="true"} 3',
      'img42_dead_letters_last_hour{kind="false"} 2',
      'img42_database_dead_tuples{table="jobs"} 100',
      'img42_queue_messages{queue="jobs",state="in_flight"} 2',
      'img42_state_up{source="database"} 1',
    ]),
  )
})

test('the database is asked once for all of a scrape, and again after five seconds', async () => {
  const { world, asked, lines } = observed()
  await Promise.all([lines(), lines()])
  world.now = 4_999
  await lines()
  expect(asked.state).toBe(1)
  world.now = 5_000
  await lines()
  expect(asked.state).toBe(2)
})

test.each([
  ['fails', () => Promise.reject(new Error('the database did not answer'))],
  ['hangs', () => HUNG],
])('a database that %s leaves its gauges out and the rest in, until it answers', async (_how, readState) => {
  const { world, lines } = observed()
  await lines()
  world.now = 5_000
  world.readState = readState
  const told = await lines()
  expect(told).toContain('img42_state_up{source="database"} 0')
  expect(told).toContain('img42_state_up{source="jobs"} 1')
  expect(told.filter((line) => /^img42_(?!state_up|queue_messages)/.test(line))).toEqual([])

  world.now = 10_000
  world.readState = async () => STATE
  expect(await lines()).toContain('img42_outbox_rows 2')
})

test('a queue that cannot be asked is no empty queue', async () => {
  const { world, asked, lines } = observed()
  world.depth = () => Promise.reject(new Error('no answer'))
  const told = await lines()
  expect(told).toContain('img42_state_up{source="jobs"} 0')
  expect(told.filter((line) => line.startsWith('img42_queue_messages'))).toEqual([])
  expect(told).toContain('img42_jobs{status="QUEUED"} 3')

  world.now = 5_000
  world.depth = async () => ({ visible: 0, inFlight: 0, delayed: 0 })
  await lines()
  expect(asked.queueEmpty).toEqual([false, true])
})
