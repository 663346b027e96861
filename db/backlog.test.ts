import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newJob } from '../test/conformance/jobs.ts'
import { openTestDatabase } from '../test/opened-database.ts'
import { readBacklog } from './backlog.ts'
import { createPostgresJobs } from './jobs/postgres-jobs.ts'

const db = await openTestDatabase()

test('the backlog is of jobs that are not done, and of outbox rows, with the age of the oldest', async () => {
  expect(await readBacklog(db)).toEqual({
    ...{ jobsNotDone: 0, oldestJobAgeSeconds: 0, outboxRows: 0, oldestOutboxRowAgeSeconds: 0 },
  })
  const jobs = createPostgresJobs(db)
  for (const id of ['img_a', 'img_b', 'img_c']) await jobs.accept(newJob(id))
  await jobs.end({
    ...{ jobId: 'img_c', by: { kind: 'owner' } },
    end: { status: 'FAILED', error: { code: 'cancelled', message: 'by its owner' } },
  })
  await sql`update jobs set created_at = now() - interval '90 seconds' where job_id = 'img_a'`.execute(db)
  await sql`update outbox set created_at = now() - interval '40 seconds' where job_id = 'img_b'`.execute(db)
  const { oldestJobAgeSeconds, oldestOutboxRowAgeSeconds, ...counts } = await readBacklog(db)
  expect(counts).toEqual({ jobsNotDone: 2, outboxRows: 3 })
  expect(Math.floor(oldestJobAgeSeconds / 10)).toBe(9)
  expect(Math.floor(oldestOutboxRowAgeSeconds / 10)).toBe(4)
})
