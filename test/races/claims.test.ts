import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JobEnd } from '../../core/ports/jobs.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { until } from '../end-to-end/stack.ts'
import { RESULT } from '../job-result.ts'
import { BUDGET, type JobTable, openJobTable } from './job-table.ts'

let table: JobTable
beforeEach(async () => {
  table = await openJobTable()
})
afterEach(() => table.close())

const SUCCEEDED: JobEnd['end'] = { status: 'SUCCEEDED', outputs: [], warnings: [], result: RESULT }

test('of two claims of one job at once, exactly one is granted, 100 times', async () => {
  for (let i = 0; i < 100; i++) {
    const jobId = await table.accept()
    const claims = await Promise.all(
      ['one', 'other'].map((owner) => table.jobs.claim({ jobId, owner, leaseMs: 30_000, budget: BUDGET })),
    )
    expect(claims.map(({ kind }) => kind).sort()).toEqual(['claimed', 'not_yet'])
    expect(await table.jobs.find(jobId)).toMatchObject({ attempts: 1, fence: 1 })
  }
})

test('of two claims at once of a job whose lease ran out, exactly one is granted', async () => {
  for (let i = 0; i < 20; i++) {
    const jobId = await table.accept()
    await table.claim(jobId, 0)
    const claims = await Promise.all(
      ['one', 'other'].map((owner) => table.jobs.claim({ jobId, owner, leaseMs: 30_000, budget: BUDGET })),
    )
    expect(claims.map(({ kind }) => kind).sort()).toEqual(['claimed', 'not_yet'])
    expect(await table.jobs.find(jobId)).toMatchObject({ attempts: 2, fence: 2 })
  }
})

test('a job that falls due between a claim’s two statements is put off, and not failed as expired', async () => {
  const jobId = await table.accept()
  const { fence } = await table.claim(jobId)
  await table.jobs.putBack({ jobId, fence, charged: true, delayMs: 200, error: null })
  const due = () => until(async () => (await table.jobs.find(jobId))!.claimableInMs === 0)
  const jobs = table.paused(1, due)

  expect(await jobs.claim({ jobId, owner: 'slow', leaseMs: 30_000, budget: BUDGET })).toMatchObject({
    kind: 'not_yet',
  })
  expect(await table.jobs.find(jobId)).toMatchObject({ status: 'QUEUED' })
  expect(await table.claim(jobId)).toMatchObject({ attempt: 2 })
})

test('a lease that runs out between a claim’s two statements does not fail the job', async () => {
  const jobId = await table.accept()
  await table.claim(jobId, 200)
  const jobs = table.paused(1, () => until(async () => !(await table.jobs.find(jobId))!.held))
  expect(await jobs.claim({ jobId, owner: 'slow', leaseMs: 30_000, budget: BUDGET })).toMatchObject({
    kind: 'not_yet',
  })
  expect(await table.jobs.find(jobId)).toMatchObject({ status: 'RUNNING' })
})

test('a rescue meets a completion that is not committed yet: it passes the job by', async () => {
  const jobId = await table.accept()
  const { fence } = await table.claim(jobId, 0)
  await table.db.transaction().execute(async (transaction) => {
    const by = { kind: 'holder', fence } as const
    expect(await createPostgresJobs(transaction).end({ jobId, by, end: SUCCEEDED })).toBe(true)
    expect(await table.jobs.rescue({ graceMs: 0, budget: BUDGET, max: 10 })).toEqual([])
  })
  expect(await table.jobs.find(jobId)).toMatchObject({ status: 'SUCCEEDED', fence })
  expect(await table.events(jobId)).toEqual(['accepted', 'claimed', 'succeeded'])
})

test('a sweep paused between its read and its write while the worker completes: it ends nothing', async () => {
  const { jobId, fence } = await lastAttempt()
  const jobs = table.paused(2, () => table.jobs.end({ jobId, by: { kind: 'holder', fence }, end: SUCCEEDED }))
  expect(await jobs.rescue({ graceMs: 0, budget: BUDGET, max: 10 })).toEqual([])
  expect(await table.jobs.find(jobId)).toMatchObject({ status: 'SUCCEEDED' })
  expect(await table.count('processed_operations', jobId)).toBe(1)
  expect(await table.count('dead_letters', jobId)).toBe(0)
})

test('a sweep paused between its read and its write while the worker’s heartbeat arrives: the job stays its holder’s', async () => {
  const { jobId, fence } = await lastAttempt()
  const jobs = table.paused(2, () => table.jobs.heartbeat({ jobId, fence, leaseMs: 30_000 }))
  expect(await jobs.rescue({ graceMs: 0, budget: BUDGET, max: 10 })).toEqual([])
  expect(await table.jobs.find(jobId)).toMatchObject({ status: 'RUNNING', fence, held: true })
})

test('a sweep paused between its read and its write while the worker gives the attempt back: the budget has room again', async () => {
  const { jobId, fence } = await lastAttempt()
  const jobs = table.paused(2, () =>
    table.jobs.putBack({ jobId, fence, charged: false, delayMs: 0, error: null }),
  )
  expect(await jobs.rescue({ graceMs: 0, budget: BUDGET, max: 10 })).toEqual([])
  expect(await table.jobs.find(jobId)).toMatchObject({ status: 'QUEUED', attempts: BUDGET - 1 })
  expect(await table.count('processed_operations', jobId)).toBe(0)
})

/** A job whose last attempt has lost its lease. */
async function lastAttempt(): Promise<{ jobId: string; fence: number }> {
  const jobId = await table.accept()
  await sql`update jobs set attempts = ${BUDGET - 1} where job_id = ${jobId}`.execute(table.db)
  const { fence } = await table.claim(jobId, 0)
  return { jobId, fence }
}
