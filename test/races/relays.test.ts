import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { relayTurn } from '../../apps/reconciler/relay.ts'
import type { OutgoingMessage, Queue, SendOutcome } from '../../core/ports/queue.ts'
import { DEFAULT_TIMING } from '../../core/timing.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { openPostgresQueues } from '../../db/postgres-queue.ts'
import { systemClock as clock } from '../../infra/system-clock.ts'
import { systemRandom as random } from '../../infra/system-random.ts'
import { acceptJob, type JobTable, openJobTable } from './job-table.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

let table: JobTable
let queue: Queue
/** The jobs whose messages the queue took, in that order. */
let sent: string[]

beforeEach(async () => {
  table = await openJobTable()
  queue = openPostgresQueues(table.db, {
    visibilitySeconds: 30,
    retentionMs: 3_600_000,
    deadLetterRetentionMs: 3_600_000,
  }).jobs
  sent = []
})
afterEach(() => table.close())

/** One turn of a relay of its own; `send` stands before the queue's. */
function turn(leaseMs: number, send: Queue['send'] = recorded): Promise<number> {
  const timing = { ...DEFAULT_TIMING, outboxLeaseMs: leaseMs, callMs: 20_000 }
  return relayTurn({ jobs: table.jobs, queue: { ...queue, send }, clock, random, timing, log: SILENT })
}

async function recorded(messages: readonly OutgoingMessage[], signal: AbortSignal): Promise<SendOutcome[]> {
  const outcomes = await queue.send(messages, signal)
  for (const [i, { body }] of messages.entries()) {
    if (outcomes[i]!.ok) sent.push((JSON.parse(body) as { job_id: string }).job_id)
  }
  return outcomes
}

test('a relay that stalls past its claim sends again what another has sent, and confirms nothing of it', async () => {
  const jobs = await Promise.all(Array.from({ length: 8 }, () => table.accept()))
  const send: Queue['send'] = async (messages, signal) => {
    // Longer than the claim lasts: another relay takes the same rows under a token of its own, and is done with them.
    while ((await turn(30_000)) === 0) await clock.sleep(1)
    return recorded(messages, signal)
  }
  await turn(1, send)

  expect(await table.db.selectFrom('outbox').selectAll().execute()).toEqual([])
  for (const jobId of jobs) {
    expect(sent.filter((other) => other === jobId)).toHaveLength(2)
    expect(await table.events(jobId)).toEqual(['accepted', 'published'])
  }
})

test('a stalled relay’s confirmation leaves the rows alone that another is about to send', async () => {
  const jobId = await table.accept()
  const [row] = await table.jobs.claimOutbox({ token: 'stalled', max: 10, leaseMs: 0 })
  const [again] = await table.jobs.claimOutbox({ token: 'other', max: 10, leaseMs: 30_000 })
  expect(again!.rowId).toBe(row!.rowId)

  await table.jobs.confirmPublished({ token: 'stalled', rowIds: [row!.rowId] })
  await table.jobs.returnToOutbox({ token: 'stalled', rowIds: [row!.rowId], delayMs: 0 })
  const refusal = { token: 'stalled', rowId: row!.rowId, body: '', reason: 'refused' }
  await table.jobs.refusePublication(refusal)
  expect(await table.count('outbox', jobId)).toBe(1)
  expect(await table.jobs.claimOutbox({ token: 'third', max: 10, leaseMs: 0 })).toEqual([])
  expect(await table.events(jobId)).toEqual(['accepted'])

  await table.jobs.confirmPublished({ token: 'other', rowIds: [row!.rowId] })
  expect(await table.count('outbox', jobId)).toBe(0)
  expect(await table.events(jobId)).toEqual(['accepted', 'published'])
})

test('a row with a lower id that is committed after a higher one was sent is sent all the same', async () => {
  const committed = Promise.withResolvers<void>()
  const inserted = Promise.withResolvers<string>()
  const late = table.db.transaction().execute(async (transaction) => {
    inserted.resolve(await acceptJob(createPostgresJobs(transaction)))
    await committed.promise
  })
  const lower = await inserted.promise
  const higher = await table.accept()
  await turn(30_000)
  expect(sent).toEqual([higher])

  committed.resolve()
  await late
  const { rows } = await sql<{ first: boolean }>`
    select (select min(event_id) from job_events where job_id = ${lower})
      < (select min(event_id) from job_events where job_id = ${higher}) as first`.execute(table.db)
  expect(rows[0]!.first).toBe(true)
  await turn(30_000)
  expect(sent).toEqual([higher, lower])
})

test('one row that the queue refuses among 100 good ones: its job fails and is recorded, the others are sent', async () => {
  const good: string[] = []
  for (let i = 0; i < 50; i++) good.push(await table.accept())
  // A character that no SQS takes.
  const bad = await table.accept({ objectKey: 'originals/\ufffe' })
  for (let i = 0; i < 50; i++) good.push(await table.accept())
  while ((await turn(30_000)) > 0);

  expect([...sent].sort()).toEqual([...good].sort())
  expect(await table.jobs.find(bad)).toMatchObject({ status: 'FAILED', error: { code: 'publish_refused' } })
  expect(await table.count('dead_letters', bad)).toBe(1)
  expect(await table.count('processed_operations', bad)).toBe(1)
  expect(await table.db.selectFrom('outbox').selectAll().execute()).toEqual([])
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from jobs where status = 'QUEUED' and published_at is not null`.execute(
    table.db,
  )
  expect(rows[0]!.count).toBe(100)
})
