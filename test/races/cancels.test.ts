import { afterEach, beforeEach, expect, test } from 'vitest'
import { cancelled } from '../../core/job-ends.ts'
import type { JobEnd } from '../../core/ports/jobs.ts'
import { RESULT } from '../job-result.ts'
import { type JobTable, openJobTable } from './job-table.ts'

let table: JobTable
beforeEach(async () => {
  table = await openJobTable()
})
afterEach(() => table.close())

const SUCCEEDED: JobEnd['end'] = { status: 'SUCCEEDED', outputs: [], warnings: [], result: RESULT }

test('a cancel and a completion at once: one of them ends the job, and the other learns it, 100 times', async () => {
  const winners = { cancel: 0, completion: 0 }
  for (let i = 0; i < 100; i++) {
    const jobId = await table.accept()
    const { fence } = await table.claim(jobId)
    const cancel = () => table.jobs.end({ jobId, by: { kind: 'owner' }, ...cancelled() })
    const complete = () => table.jobs.end({ jobId, by: { kind: 'holder', fence }, end: SUCCEEDED })
    // Which comes first is not left to the order of the calls alone.
    const [byCancel, byWorker] =
      i % 2 === 0
        ? await Promise.all([cancel(), complete()])
        : await Promise.all([complete(), cancel()]).then((both) => both.toReversed() as [boolean, boolean])
    expect([byCancel, byWorker].filter(Boolean)).toHaveLength(1)
    winners[byCancel ? 'cancel' : 'completion']++
    const job = await table.jobs.find(jobId)
    expect(job?.status).toBe(byCancel ? 'FAILED' : 'SUCCEEDED')
    expect(job?.error?.code).toBe(byCancel ? 'cancelled' : undefined)
    expect(await table.count('processed_operations', jobId)).toBe(1)
    expect(await table.events(jobId)).toEqual(['accepted', 'claimed', byCancel ? 'failed' : 'succeeded'])
    // A worker that has not heard of it yet holds nothing any more.
    expect(await table.jobs.heartbeat({ jobId, fence, leaseMs: 30_000 })).toBe(false)
  }
  expect(winners.cancel + winners.completion).toBe(100)
})

test('a cancel and a claim at once: the job ends cancelled, and a worker that has it loses it, 100 times', async () => {
  for (let i = 0; i < 100; i++) {
    const jobId = await table.accept()
    const [claim, ended] = await Promise.all([
      table.jobs.claim({ jobId, owner: 'worker', leaseMs: 30_000, budget: 5 }),
      table.jobs.end({ jobId, by: { kind: 'owner' }, ...cancelled() }),
    ])
    expect(ended).toBe(true)
    expect(await table.jobs.find(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'cancelled' } })
    if (claim.kind === 'claimed') {
      expect(await table.jobs.heartbeat({ jobId, fence: claim.fence, leaseMs: 30_000 })).toBe(false)
      const by = { kind: 'holder', fence: claim.fence } as const
      expect(await table.jobs.end({ jobId, by, end: SUCCEEDED })).toBe(false)
    } else {
      expect(claim.kind).toBe('finished')
    }
  }
})

test('the transitions of a job are read in the order of their commits, while they are made', async () => {
  const jobId = await table.accept()
  const seen: string[] = []
  let over = false
  async function read(): Promise<void> {
    let afterId = '0'
    while (!over || seen.length < 41) {
      for (const { eventId } of await table.jobs.transitionsAfter([{ jobId, afterId }])) {
        seen.push(eventId)
        afterId = eventId
      }
    }
  }
  async function change(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      const { fence } = await table.claim(jobId)
      await table.jobs.putBack({ jobId, fence, charged: false, delayMs: 0, error: null })
    }
    over = true
  }
  await Promise.all([read(), change()])
  const all = await table.jobs.transitionsAfter([{ jobId, afterId: '0' }])
  expect(seen).toEqual(all.map(({ eventId }) => eventId))
})
