import { expect, it } from 'vitest'
import { callbackId } from '../../core/callback.ts'
import { expired } from '../../core/job-ends.ts'
import type { JobEnd } from '../../core/ports/jobs.ts'
import { type Bench, BUDGET, LEASE_MS } from './jobs.ts'

const URL = 'https://hooks.example/img42'
const ASKED = { callbackUrl: URL }

/** Whatever ends a job owes its callback, and nothing else does. */
export function callbackRules(bench: Bench): void {
  const { jobs, age, look, accepted, attempted, published, claim, claimed, putBack, succeed } = bench
  const failed: JobEnd['end'] = { status: 'FAILED', error: { code: 'corrupt', message: 'no image' } }
  const end = (jobId: string, by: JobEnd['by']) => jobs().end({ jobId, by, end: failed })

  async function expectFailure(jobId: string, code: string): Promise<void> {
    expect((await look(jobId)).callbacks).toEqual([
      {
        ...{ callbackId: callbackId(jobId, 1), event: 'job.failed', url: URL },
        error: { code, message: expect.any(String) },
      },
    ])
  }

  it('are owed to a job that succeeded', async () => {
    const jobId = await accepted(ASKED)
    expect((await look(jobId)).callbacks).toEqual([])
    await succeed(jobId, await claimed(jobId))
    expect((await look(jobId)).callbacks).toEqual([
      { callbackId: callbackId(jobId, 1), event: 'job.succeeded', url: URL, error: null },
    ])
  })

  it('are owed to a job that its holder failed, with why', async () => {
    const jobId = await accepted(ASKED)
    await end(jobId, { kind: 'holder', fence: await claimed(jobId) })
    await expectFailure(jobId, 'corrupt')
  })

  it('are owed to a job that its owner ended or deleted', async () => {
    const [ended, deleted] = [await accepted(ASKED), await accepted(ASKED)]
    await end(ended, { kind: 'owner' })
    await expectFailure(ended, 'corrupt')
    await jobs().bury(deleted)
    await expectFailure(deleted, 'deleted')
  })

  it('are owed to jobs that a claim finds without budget or past their deadline', async () => {
    const spent = await attempted(BUDGET, ASKED)
    await claim(spent)
    await expectFailure(spent, 'attempts_exhausted')
    const late = await accepted({ ...ASKED, deadlineMs: 60_000 })
    await age(61_000)
    await claim(late)
    await expectFailure(late, 'expired')
  })

  it('are owed to jobs that the sweeps end', async () => {
    const late = await accepted({ ...ASKED, deadlineMs: 60_000 })
    const spent = await attempted(BUDGET - 1, ASKED)
    await claimed(spent)
    await age(LEASE_MS + 62_000)
    await jobs().rescue({ graceMs: 60_000, budget: BUDGET, max: 100 })
    await expectFailure(spent, 'attempts_exhausted')
    await jobs().expire({ max: 100 })
    await expectFailure(late, 'expired')
  })

  it('are owed to jobs that a dead letter or a refused publication fails', async () => {
    const letter = await attempted(BUDGET, ASKED)
    await jobs().takeDeadLetter({
      ...{ messageId: 'message', jobId: letter, generation: 1, body: '', reason: 'received too often' },
      ...{ receiveCount: 51, budget: BUDGET },
    })
    await expectFailure(letter, 'dead_lettered')
    const refused = await accepted(ASKED)
    const [row] = await jobs().claimOutbox({ token: 'a', max: 100, leaseMs: LEASE_MS })
    await jobs().refusePublication({ token: 'a', rowId: row!.rowId, body: '', reason: 'too long' })
    await expectFailure(refused, 'publish_refused')
  })

  it('are owed once, and to nobody whose end changed nothing', async () => {
    const jobId = await accepted(ASKED)
    await published()
    const stale = await claimed(jobId)
    await putBack(jobId, stale)
    const fence = await claimed(jobId)
    await end(jobId, { kind: 'holder', fence: stale })
    await jobs().end({ jobId, by: { kind: 'sweep', fence }, ...expired() })
    expect((await look(jobId)).callbacks).toEqual([])
    await succeed(jobId, fence)
    await end(jobId, { kind: 'holder', fence })
    await end(jobId, { kind: 'owner' })
    await jobs().bury(jobId)
    expect((await look(jobId)).callbacks).toMatchObject([{ event: 'job.succeeded' }])
  })

  it('are owed to no job that asked for none', async () => {
    const jobId = await accepted()
    await succeed(jobId, await claimed(jobId))
    expect((await look(jobId)).callbacks).toEqual([])
  })
}
