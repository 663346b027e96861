import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { relayTurn } from '../../apps/reconciler/relay.ts'
import { startConsumer } from '../../apps/worker/consumer.ts'
import { createGate } from '../../apps/worker/gate.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { Queue } from '../../core/ports/queue.ts'
import type { Renderer } from '../../core/ports/renderer.ts'
import { DEFAULT_TIMING, type Timing } from '../../core/timing.ts'
import { openPostgresQueues } from '../../db/postgres-queue.ts'
import { openFileStore } from '../../infra/files/file-store.ts'
import { systemClock as clock } from '../../infra/system-clock.ts'
import { systemRandom as random } from '../../infra/system-random.ts'
import { until } from '../end-to-end/stack.ts'
import { COST, FACTS, STILL_JPEG } from '../job-result.ts'
import { BUDGET, type JobTable, openJobTable } from './job-table.ts'

const DEPLOYS = 20
const BODY = Buffer.from('an original')
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
// A deploy that cannot wait for the job: it takes longer than any drain.
const timing: Timing = { ...DEFAULT_TIMING, drainMs: 50, callMs: 20_000 }

let table: JobTable
let queue: Queue
let folder: string
let objectStore: ObjectStore

beforeEach(async () => {
  table = await openJobTable()
  queue = openPostgresQueues(table.db, {
    visibilitySeconds: timing.visibilitySeconds,
    retentionMs: timing.queueRetentionMs,
    deadLetterRetentionMs: timing.deadLetterRetentionMs,
  }).jobs
  folder = mkdtempSync(path.join(tmpdir(), 'img42-deploys-'))
  objectStore = await openFileStore(folder)
})
afterEach(async () => {
  await table.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The worker's own code, but for the renderer: this one begins, and does not end before it is told to. */
function startWorker(ends: boolean) {
  const begun = Promise.withResolvers<void>()
  const renderer: Renderer = {
    engine: 'none',
    async render({ body }, _plan, signal) {
      for await (const _ of body);
      begun.resolve()
      if (!ends) await clock.sleep(3_600_000, signal)
      const thumbnail = { name: 'thumbnail', ...STILL_JPEG, width: 1, height: 1, body: BODY }
      return { outputs: [thumbnail], warnings: [], facts: FACTS, cost: COST }
    },
  }
  const consumer = startConsumer({
    ...{ jobs: table.jobs, queue, objectStore, renderer, clock, random, timing, log: SILENT },
    ...{ moderation: null, exposeGps: false },
    ...{ budget: BUDGET, owner: Buffer.from(random.bytes(6)).toString('hex'), concurrency: 2 },
    gate: createGate({ probe: () => table.jobs.ping(), clock, random, timing, log: SILENT }),
    onTurn() {},
  })
  return { begun: begun.promise, consumer }
}

test('20 deploys in a row with a long job running: it is charged for none of them, and its message stays far from the limit', async () => {
  const original = {
    ...{ contentType: 'image/png', bytes: BODY.length, width: 1, height: 1 },
    sha256: createHash('sha256').update(BODY).digest('hex'),
  }
  const jobId = await table.accept({ original })
  const key = `originals/${jobId}`
  await objectStore.put({ key, body: BODY, contentType: 'image/png' }, AbortSignal.timeout(20_000))
  await relayTurn({ jobs: table.jobs, queue, clock, random, timing, log: SILENT })

  for (let deploy = 0; deploy < DEPLOYS; deploy++) {
    const { begun, consumer } = startWorker(false)
    await begun
    consumer.drain()
    await consumer.ended
    expect(await table.jobs.find(jobId)).toMatchObject({ status: 'QUEUED', attempts: 0 })
  }
  const message = await table.db
    .selectFrom('queue_messages')
    .select(['receive_count', 'queue_name'])
    .executeTakeFirstOrThrow()
  // One receive a deploy: of 50, and this job met every one of them.
  expect(message).toEqual({ receive_count: DEPLOYS, queue_name: 'jobs' })

  const { consumer } = startWorker(true)
  const job = await until(async () => {
    const found = await table.jobs.find(jobId)
    return found?.status === 'SUCCEEDED' && found
  })
  expect(job.attempts).toBe(1)
  consumer.drain()
  await consumer.ended
  expect(await table.count('processed_operations', jobId)).toBe(1)
  expect(await table.count('dead_letters', jobId)).toBe(0)
  expect(await table.db.selectFrom('queue_messages').selectAll().execute()).toEqual([])
})
