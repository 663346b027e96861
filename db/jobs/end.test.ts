import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { cancelled } from '../../core/job-ends.ts'
import { newJob } from '../../test/conformance/jobs.ts'
import { createTestDatabase, type TestDatabase } from '../../test/database.ts'
import { openDatabase } from '../connect.ts'
import type { Database } from '../schema.ts'
import { type JobEnded, jobEnded } from './end.ts'
import { createPostgresJobs } from './postgres-jobs.ts'

let database: TestDatabase
let db: Kysely<Database>
let told: JobEnded[]
const hear = (message: unknown) => told.push(message as JobEnded)

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 2, callMs: 10_000, application: 'img42-test' })
  jobEnded.subscribe(hear)
})
afterAll(async () => {
  jobEnded.unsubscribe(hear)
  await db.destroy()
  await database.drop()
})
beforeEach(() => {
  told = []
})

test('each end is told once, whichever call it came of', async () => {
  const jobs = createPostgresJobs(db)
  for (const id of ['img_a', 'img_b', 'img_c', 'img_d']) await jobs.accept(newJob(id))
  const end = { jobId: 'img_a', by: { kind: 'owner' }, ...cancelled() } as const
  await jobs.end(end)
  await jobs.end(end)
  await jobs.bury('img_b')
  await jobs.bury('img_b')
  await sql`update jobs set deadline_at = now() - interval '1 second' where job_id = 'img_c'`.execute(db)
  await jobs.expire({ max: 10 })
  await sql`update jobs set attempts = 5 where job_id = 'img_d'`.execute(db)
  await jobs.claim({ jobId: 'img_d', owner: 'me', leaseMs: 1_000, budget: 5 })
  await jobs.claim({ jobId: 'img_d', owner: 'me', leaseMs: 1_000, budget: 5 })
  expect(told).toEqual(
    ['cancelled', 'deleted', 'expired', 'attempts_exhausted'].map((code) => ({ status: 'FAILED', code })),
  )
})
