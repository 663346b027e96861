import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import { createTestDatabase, type TestDatabase } from '../../test/database.ts'
import { openDatabase } from '../connect.ts'
import type { Database } from '../schema.ts'
import { createPostgresJobs } from './postgres-jobs.ts'

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

/** As a version without presets writes it: it names neither options nor result. */
const insertOld = (jobId: string, status: string, more: { columns: string; values: string }) =>
  sql
    .raw(
      `insert into jobs (job_id, tenant, status, object_key, original, warnings, deadline_at, ${more.columns})
      values ('${jobId}', 'default', '${status}', 'originals/${jobId}', '{}', '[]', now() + interval '1 day', ${more.values})`,
    )
    .execute(db)

it('reads a job from before there were presets as one of the default thumbnail', async () => {
  await insertOld('img_waiting', 'QUEUED', { columns: 'published_at', values: 'null' })
  const jobs = createPostgresJobs(db)
  const claim = await jobs.claim({ jobId: 'img_waiting', owner: 'w', leaseMs: 60_000, budget: 5 })
  expect(claim).toMatchObject({
    kind: 'claimed',
    job: { options: DEFAULT_OPTIONS, outputs: null, result: null },
  })
})

it('reads an output from before there were variants as the still picture that it is', async () => {
  const output = {
    name: 'thumbnail',
    key: 'k',
    contentType: 'image/webp',
    bytes: 1,
    sha256: 'aa',
    width: 1,
    height: 1,
  }
  await insertOld('img_done', 'SUCCEEDED', {
    columns: 'finished_at, outputs',
    values: `now(), '${JSON.stringify([output])}'`,
  })
  const job = await createPostgresJobs(db).find('img_done')
  expect(job).toMatchObject({ options: DEFAULT_OPTIONS, result: null })
  expect(job?.outputs).toEqual([{ ...output, format: 'webp', frames: 1, durationMs: null }])
})
