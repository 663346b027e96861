import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import { openTestDatabase } from '../../test/opened-database.ts'
import { createPostgresJobs } from './postgres-jobs.ts'

const db = await openTestDatabase()

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
