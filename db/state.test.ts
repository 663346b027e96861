import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newJob } from '../test/conformance/jobs.ts'
import { createTestDatabase, type TestDatabase } from '../test/database.ts'
import { openDatabase } from './connect.ts'
import { createPostgresJobs } from './jobs/postgres-jobs.ts'
import type { Database } from './schema.ts'
import { readState, stateQuery } from './state.ts'

let database: TestDatabase
let db: Kysely<Database>
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 2, callMs: 10_000, application: 'img42-test' })
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

const EVIDENCE_MS = 60_000
const state = (queueEmpty = false) => readState(db, { evidenceMs: EVIDENCE_MS, queueEmpty })
const set = (jobId: string, columns: string) =>
  sql`update jobs set ${sql.raw(columns)} where job_id = ${jobId}`.execute(db)
const ago = (seconds: number) => `now() - interval '${seconds} seconds'`

test('the state of a service is read from its tables, with the ages of what is oldest', async () => {
  const nothing = await state()
  expect(nothing).toMatchObject({
    ...{ queuedJobs: 0, runningJobs: 0, oldestJobAgeSeconds: 0, outboxRows: 0, oldestOutboxRowAgeSeconds: 0 },
    ...{ oldestMessageAgeSeconds: 0, oldestUnheardAgeSeconds: 0 },
    ...{ deadLettersLastHour: 0, falseDeadLettersLastHour: 0 },
  })
  expect(Object.keys(nothing.deadTuples).sort()).toEqual(['callbacks', 'jobs', 'outbox', 'queue_messages'])

  const jobs = createPostgresJobs(db)
  for (const id of ['img_a', 'img_b', 'img_c', 'img_d']) await jobs.accept(newJob(id))
  await jobs.end({
    ...{ jobId: 'img_c', by: { kind: 'owner' } },
    end: { status: 'FAILED', error: { code: 'cancelled', message: 'by its owner' } },
  })
  await jobs.claim({ jobId: 'img_d', owner: 'me', leaseMs: 60_000, budget: 5 })
  await set('img_a', `created_at = ${ago(90)}`)
  await sql`update outbox set created_at = now() - interval '40 seconds' where job_id = 'img_b'`.execute(db)
  const behind = await state()
  expect(behind).toMatchObject({ queuedJobs: 2, runningJobs: 1, outboxRows: 4 })
  expect(Math.floor(behind.oldestJobAgeSeconds / 10)).toBe(9)
  expect(Math.floor(behind.oldestOutboxRowAgeSeconds / 10)).toBe(4)
})

test('a QUEUED job seems to have no message when the queue is past it or empty, and not while it waits its turn', async () => {
  await sql`delete from outbox`.execute(db)
  await set('img_a', `published_at = ${ago(300)}, run_at = ${ago(900)}`)
  await set('img_b', `published_at = ${ago(200)}, run_at = ${ago(900)}`)
  await set('img_d', `published_at = ${ago(280)}, claimed_at = ${ago(270)}`)
  const waiting = await state()
  expect(Math.floor(waiting.oldestMessageAgeSeconds / 10)).toBe(30)
  expect(waiting.oldestUnheardAgeSeconds).toBe(0)
  expect(Math.floor((await state(true)).oldestUnheardAgeSeconds / 10)).toBe(30)

  await set('img_d', `published_at = ${ago(230)}, claimed_at = ${ago(220)}`)
  expect(Math.floor((await state()).oldestUnheardAgeSeconds / 10)).toBe(30)

  // An outbox row is a message to come.
  await sql`insert into outbox (job_id) values ('img_a'), ('img_b')`.execute(db)
  expect(await state(true)).toMatchObject({ oldestMessageAgeSeconds: 0, oldestUnheardAgeSeconds: 0 })
})

test('dead letters of the last hour are counted, those of finished jobs apart', async () => {
  const letter = (verdict: string, age: string) =>
    sql`insert into dead_letters (reason, receive_count, verdict, recorded_at)
      values ('test', 50, ${verdict}, now() - ${age}::interval)`.execute(db)
  await letter('failed', '10 minutes')
  await letter('false_quarantine', '20 minutes')
  await letter('failed', '61 minutes')
  expect(await state()).toMatchObject({ deadLettersLastHour: 2, falseDeadLettersLastHour: 1 })
})

test('an open transaction is seen, and how old it is', async () => {
  const age = await db.transaction().execute(async (transaction) => {
    await sql`select pg_sleep(0.05)`.execute(transaction)
    return (await state()).oldestTransactionAgeSeconds
  })
  expect(age).toBeGreaterThanOrEqual(0.05)
})

test('however much is finished, reading the state goes by the indexes of what is not', async () => {
  await sql`insert into jobs (job_id, tenant, status, object_key, original, warnings, outputs, published_at, claimed_at,
      deadline_at, finished_at)
    select 'img_done_' || i, 'default', 'SUCCEEDED', '', '{}', '[]', '[]', now(), now(), now(), now()
    from generate_series(1, 10000) i`.execute(db)
  await sql`insert into dead_letters (reason, receive_count, verdict, recorded_at)
    select 'test', 50, 'failed', now() - i * interval '1 hour' from generate_series(2, 10000) i`.execute(db)
  await sql`analyze jobs, dead_letters`.execute(db)
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    explain ${stateQuery({ evidenceMs: EVIDENCE_MS, queueEmpty: false })}`.execute(db)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  for (const index of ['jobs_in_flight', 'jobs_queued', 'jobs_watermark_any', 'dead_letters_recorded']) {
    expect(plan).toContain(index)
  }
  expect(plan).not.toMatch(/Seq Scan on (jobs|dead_letters)/)
})
