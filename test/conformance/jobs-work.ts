import { expect, it } from 'vitest'
import type { JobResult } from '../../core/job.ts'
import type { JobEnd } from '../../core/ports/jobs.ts'
import { RESULT } from '../job-result.ts'
import { type Bench, BUDGET, LEASE_MS, OUTPUT } from './jobs.ts'

export function workRules(bench: Bench): void {
  const { jobs, age, look, accepted, attempted, claim, claimed, putBack, succeed, found } = bench
  const heartbeat = (jobId: string, fence: number) => jobs().heartbeat({ jobId, fence, leaseMs: LEASE_MS })
  const failed: JobEnd['end'] = { status: 'FAILED', error: { code: 'corrupt', message: 'no image' } }

  it('claims a QUEUED job: RUNNING, held, fence and attempts one higher', async () => {
    const jobId = await accepted()
    const { fence } = await found(jobId)
    const outcome = await claim(jobId)
    expect(outcome).toMatchObject({ kind: 'claimed', fence: fence + 1, attempt: 1 })
    const job = await found(jobId)
    // What is left of the lease is less by the time of the second look.
    const { claimableInMs } = job
    expect({ ...(outcome as { job: object }).job, claimableInMs }).toEqual(job)
    expect(job).toMatchObject({ status: 'RUNNING', held: true, fence: fence + 1, attempts: 1 })
    expect(job.claimableInMs).toBeGreaterThan(LEASE_MS - 10_000)
    expect(job.claimableInMs).toBeLessThanOrEqual(LEASE_MS)
  })

  it('tells the second of two claims how long the first one’s lease is', async () => {
    const jobId = await accepted()
    await claimed(jobId)
    const outcome = await claim(jobId)
    expect(outcome).toMatchObject({ kind: 'not_yet' })
    expect((outcome as { retryInMs: number }).retryInMs).toBeGreaterThan(LEASE_MS - 10_000)
    expect((await found(jobId)).attempts).toBe(1)
  })

  it('gives one job to one of many that claim it at once', async () => {
    const jobId = await accepted()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => claim(jobId)))
    expect(outcomes.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'not_yet')).toHaveLength(19)
    expect((await found(jobId)).attempts).toBe(1)
  })

  it('claims a RUNNING job whose lease ran out, which stales the first fence', async () => {
    const jobId = await accepted()
    const first = await claimed(jobId)
    await age(LEASE_MS + 1_000)
    const second = await claimed(jobId)
    expect(second).toBeGreaterThan(first)
    expect(await heartbeat(jobId, first)).toBe(false)
    expect(await putBack(jobId, first)).toBe(false)
    expect(await succeed(jobId, first)).toBe(false)
    expect(await look(jobId)).toMatchObject({ markers: [], events: ['accepted', 'claimed', 'claimed'] })
    expect(await succeed(jobId, second)).toBe(true)
  })

  // To the millisecond where time stands still; elsewhere a little later.
  it('counts a lease that ends now as run out, for a claim and for a sweep alike', async () => {
    const [first, second] = [await accepted(), await accepted()]
    await claimed(first)
    const fence = await claimed(second)
    await age(LEASE_MS)
    expect(await found(first)).toMatchObject({ held: false, claimableInMs: 0 })
    expect(await claim(first)).toMatchObject({ kind: 'claimed', attempt: 2 })
    expect(await jobs().end({ jobId: second, by: { kind: 'sweep', fence }, end: failed })).toBe(true)
  })

  it('gives a job that its owner holds already to it again, at once, with the same fence and charging nothing more', async () => {
    const jobId = await accepted()
    const first = (await claim(jobId, 'worker-a')) as { fence: number }
    expect(first).toMatchObject({ kind: 'claimed', attempt: 1 })
    expect(await claim(jobId, 'worker-a')).toMatchObject({ kind: 'claimed', attempt: 1, fence: first.fence })
    expect((await look(jobId)).events).toEqual(['accepted', 'claimed'])
    expect(await claim(jobId, 'worker-b')).toMatchObject({ kind: 'not_yet' })
    expect(await succeed(jobId, first.fence)).toBe(true)
  })

  it('charges an owner that claims again what it has put back', async () => {
    const jobId = await accepted()
    const { fence } = (await claim(jobId, 'worker-a')) as { fence: number }
    await putBack(jobId, fence)
    expect(await claim(jobId, 'worker-a')).toMatchObject({ kind: 'claimed', attempt: 2 })
  })

  it('knows unknown and finished jobs', async () => {
    const jobId = await accepted()
    await succeed(jobId, await claimed(jobId))
    expect(await claim('img_unknown')).toEqual({ kind: 'unknown' })
    expect(await claim(jobId)).toEqual({ kind: 'finished' })
  })

  it('fails a job whose budget is spent instead of claiming it, with its dead letter', async () => {
    const jobId = await attempted(BUDGET)
    expect(await claim(jobId)).toEqual({ kind: 'finished' })
    expect(await found(jobId)).toMatchObject({
      status: 'FAILED',
      error: { code: 'attempts_exhausted' },
      attempts: BUDGET,
    })
    expect(await look(jobId)).toMatchObject({ markers: [`${jobId}/1`], deadLetters: [{ verdict: 'failed' }] })
  })

  it('fails a job whose last attempt died with its worker instead of claiming it', async () => {
    const jobId = await attempted(BUDGET - 1)
    await claimed(jobId)
    await age(LEASE_MS + 1_000)
    expect(await claim(jobId)).toEqual({ kind: 'finished' })
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'attempts_exhausted' } })
  })

  it('fails a job past its deadline instead of claiming it', async () => {
    const jobId = await accepted({ deadlineMs: 60_000 })
    await age(61_000)
    expect(await claim(jobId)).toEqual({ kind: 'finished' })
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'expired' } })
  })

  it('lets an attempt that began before the deadline go on past it', async () => {
    const jobId = await accepted({ deadlineMs: 60_000 })
    const fence = await claimed(jobId)
    await age(61_000)
    expect(await heartbeat(jobId, fence)).toBe(true)
    expect(await claim(jobId)).toMatchObject({ kind: 'not_yet' })
    expect(await succeed(jobId, fence)).toBe(true)
  })

  it('extends the lease by a heartbeat, from now on and without a new fence', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    await age(LEASE_MS - 5_000)
    expect(await heartbeat(jobId, fence)).toBe(true)
    await age(LEASE_MS - 5_000)
    expect(await claim(jobId)).toMatchObject({ kind: 'not_yet' })
    expect((await found(jobId)).fence).toBe(fence)
  })

  it('lets the holder’s heartbeat revive a lease that ran out while nobody claimed the job', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    await age(LEASE_MS + 5_000)
    expect(await heartbeat(jobId, fence)).toBe(true)
    expect(await claim(jobId)).toMatchObject({ kind: 'not_yet' })
  })

  it('knows no heartbeat for a job that is not running', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    await succeed(jobId, fence)
    expect(await heartbeat(jobId, fence)).toBe(false)
    expect(await heartbeat('img_unknown', 1)).toBe(false)
  })

  it('ends a job with outputs, warnings, marker and event in one', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    const end: JobEnd['end'] = {
      status: 'SUCCEEDED',
      outputs: [OUTPUT],
      warnings: [{ code: 'type_mismatch', message: 'found while rendering' }],
      result: RESULT,
    }
    expect(await jobs().end({ jobId, by: { kind: 'holder', fence }, end })).toBe(true)
    const job = await found(jobId)
    expect(job).toMatchObject({ status: 'SUCCEEDED', outputs: [OUTPUT], error: null, held: false })
    expect(job.result).toEqual(RESULT)
    expect(job.warnings.map(({ message }) => message)).toEqual([
      'said to be a JPEG, is a PNG',
      'found while rendering',
    ])
    expect(job.finishedAt).toBeInstanceOf(Date)
    expect(job.leaseUntil).toBeNull()
    expect(await look(jobId)).toMatchObject({
      events: ['accepted', 'claimed', 'succeeded'],
      markers: [`${jobId}/1`],
    })
  })

  it('keeps the result of the attempt that ended the job, whatever a stale one found', async () => {
    const jobId = await accepted()
    const stale = await claimed(jobId)
    await age(LEASE_MS + 1_000)
    const fence = await claimed(jobId)
    const ends = (at: number, result: JobResult) => {
      const end: JobEnd['end'] = { status: 'SUCCEEDED', outputs: [OUTPUT], warnings: [], result }
      return jobs().end({ jobId, by: { kind: 'holder', fence: at }, end })
    }
    expect(await ends(stale, { ...RESULT, engine: 'an older one' })).toBe(false)
    expect((await found(jobId)).result).toBeNull()
    const moderation = { verdict: 'approved' as const, labels: ['a cat', '«quoted»'] }
    expect(await ends(fence, { ...RESULT, moderation })).toBe(true)
    expect((await found(jobId)).result).toEqual({ ...RESULT, moderation })
    expect(await ends(fence, RESULT)).toBe(false)
    expect((await found(jobId)).result).toEqual({ ...RESULT, moderation })
  })

  it('ends a job that a moderator rejected: SUCCEEDED, with a result and no outputs', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    const result: JobResult = { ...RESULT, moderation: { verdict: 'rejected', labels: [] } }
    const end: JobEnd['end'] = { status: 'SUCCEEDED', outputs: [], warnings: [], result }
    expect(await jobs().end({ jobId, by: { kind: 'holder', fence }, end })).toBe(true)
    expect(await found(jobId)).toMatchObject({ status: 'SUCCEEDED', outputs: [], result })
  })

  it('gives a job that failed no result', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    await jobs().end({ jobId, by: { kind: 'holder', fence }, end: failed })
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', outputs: null, result: null })
  })

  it('ends a job once: the same end again changes and writes nothing', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    await succeed(jobId, fence)
    const before = await found(jobId)
    const beside = await look(jobId)
    expect(await succeed(jobId, fence)).toBe(false)
    expect(await jobs().end({ jobId, by: { kind: 'owner' }, end: failed })).toBe(false)
    expect(await jobs().end({ jobId, by: { kind: 'sweep', fence }, end: failed })).toBe(false)
    expect(await found(jobId)).toEqual(before)
    expect(await look(jobId)).toEqual(beside)
  })

  it('records the dead letter together with the end, and none where there was no end', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    const deadLetter = { messageId: 'message', body: 'body', reason: 'why', receiveCount: 7 }
    const end = (by: JobEnd['by']) => jobs().end({ jobId, by, end: failed, deadLetter })
    expect(await end({ kind: 'holder', fence: fence - 1 })).toBe(false)
    expect((await look(jobId)).deadLetters).toEqual([])
    expect(await end({ kind: 'holder', fence })).toBe(true)
    expect((await look(jobId)).deadLetters).toEqual([
      { messageId: 'message', verdict: 'failed', reason: 'why', receiveCount: 7 },
    ])
  })

  it('lets a sweep end a job only while no live lease holds it, and only at the fence that it read', async () => {
    const jobId = await accepted()
    const { fence } = await found(jobId)
    const sweep = (at: number) => jobs().end({ jobId, by: { kind: 'sweep', fence: at }, end: failed })
    const running = await claimed(jobId)
    expect(await sweep(fence)).toBe(false)
    expect(await sweep(running)).toBe(false)
    await age(LEASE_MS + 1_000)
    expect(await sweep(fence)).toBe(false)
    expect(await sweep(running)).toBe(true)
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'corrupt' } })
  })

  it('lets a sweep not end a job whose lease was renewed since it was read', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    await age(LEASE_MS + 1_000)
    await heartbeat(jobId, fence)
    expect(await jobs().end({ jobId, by: { kind: 'sweep', fence }, end: failed })).toBe(false)
  })

  it('lets the owner end a job whatever it is doing, which stales its holder', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    expect(await jobs().end({ jobId, by: { kind: 'owner' }, end: failed })).toBe(true)
    expect((await found(jobId)).fence).toBeGreaterThan(fence)
    expect(await succeed(jobId, fence)).toBe(false)
    expect((await found(jobId)).status).toBe('FAILED')
    expect((await look(jobId)).markers).toEqual([`${jobId}/1`])
  })

  it('ends no unknown job', async () => {
    expect(await jobs().end({ jobId: 'img_unknown', by: { kind: 'owner' }, end: failed })).toBe(false)
  })

  it('puts a job back charged: QUEUED, its fence one higher, due after the delay', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    const error = { code: 'renderer_crashed', message: 'the renderer died' } as const
    expect(await jobs().putBack({ jobId, fence, charged: true, delayMs: 20_000, error })).toBe(true)
    expect(await found(jobId)).toMatchObject({
      status: 'QUEUED',
      fence: fence + 1,
      attempts: 1,
      lastError: error,
      held: false,
      leaseUntil: null,
    })
    expect(await claim(jobId)).toMatchObject({ kind: 'not_yet' })
    await age(21_000)
    expect(await claim(jobId)).toMatchObject({ kind: 'claimed', attempt: 2, fence: fence + 2 })
  })

  it('puts a job back uncharged, as often as it likes', async () => {
    const jobId = await accepted()
    for (let i = 0; i < BUDGET * 2; i++) await putBack(jobId, await claimed(jobId), false)
    expect(await found(jobId)).toMatchObject({ status: 'QUEUED', attempts: 0 })
    expect(await claim(jobId)).toMatchObject({ kind: 'claimed', attempt: 1 })
  })

  it('keeps the last error over a put-back that names none', async () => {
    const jobId = await accepted()
    const error = { code: 'timeout', message: 'too slow' } as const
    await jobs().putBack({ jobId, fence: await claimed(jobId), charged: true, delayMs: 0, error })
    await putBack(jobId, await claimed(jobId), false)
    expect((await found(jobId)).lastError).toEqual(error)
  })

  it('puts a job back once: the fence of the put-back is used up', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    expect(await putBack(jobId, fence, false)).toBe(true)
    expect(await putBack(jobId, fence, false)).toBe(false)
    expect(await heartbeat(jobId, fence)).toBe(false)
    expect((await found(jobId)).attempts).toBe(0)
  })
}
