import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Clock } from '../../core/ports/clock.ts'
import { openDatabase } from '../../db/connect.ts'
import { openPostgresQueues } from '../../db/postgres-queue.ts'
import { createSqsClient } from '../../infra/sqs/client.ts'
import { createSqsQueue } from '../../infra/sqs/sqs-queue.ts'
import { startTestAws, type TestAws } from '../aws.ts'
import { createTestDatabase } from '../database.ts'
import { createMemoryQueue } from '../simulation/memory/memory-queue.ts'
import { deviations } from './emulators.ts'
import { queueConformance } from './queue.ts'
import { MAX_RECEIVE_COUNT, VISIBILITY_SECONDS } from './queue-bench.ts'

const DAY_MS = 86_400_000
const known = await deviations()
const settings = { visibilitySeconds: VISIBILITY_SECONDS, maxReceiveCount: MAX_RECEIVE_COUNT }

describe('with SQS', () => {
  let aws: TestAws
  beforeAll(async () => {
    aws = await startTestAws()
  })
  afterAll(() => aws.stop())

  queueConformance(
    'SQS',
    async () => {
      const { jobsUrl, deadLettersUrl } = await aws.createQueues(settings)
      const client = createSqsClient(aws.endpointUrl)
      return {
        queues: {
          jobs: createSqsQueue(client, jobsUrl),
          deadLetters: createSqsQueue(client, deadLettersUrl),
        },
        close: async () => client.destroy(),
      }
    },
    known.queue,
  )
})

queueConformance('Postgres', async () => {
  const database = await createTestDatabase()
  const db = openDatabase(database.url, { max: 3, callMs: 5_000, application: 'img42-test' })
  return {
    queues: openPostgresQueues(db, { ...settings, retentionMs: DAY_MS, deadLetterRetentionMs: DAY_MS }),
    async close() {
      await db.destroy()
      await database.drop()
    },
  }
})

queueConformance('memory', async () => {
  const clock = createLeapingClock()
  const rules = { visibilitySeconds: VISIBILITY_SECONDS, inFlightLimit: 120_000, retentionMs: DAY_MS }
  const deadLetters = createMemoryQueue({ clock, rules: { ...rules, redrive: null } })
  const redrive = { maxReceiveCount: MAX_RECEIVE_COUNT, to: deadLetters }
  const jobs = createMemoryQueue({ clock, rules: { ...rules, redrive } })
  return { queues: { jobs, deadLetters }, close: async () => {} }
})

/** A clock that leaps to the end of each sleep, once others had a moment to act. */
function createLeapingClock(): Clock {
  let now = 0
  return {
    now: () => now,
    async sleep(ms, signal) {
      const until = now + ms
      await delay(20, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted())
      // On a machine that stood still for those 20 ms, what the test does in the meantime comes only now.
      await new Promise(setImmediate)
      signal?.throwIfAborted()
      now = Math.max(now, until)
    },
  }
}
