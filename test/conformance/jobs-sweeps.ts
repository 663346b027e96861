import { expect, it } from 'vitest'
import { type Bench, BUDGET, LEASE_MS } from './jobs.ts'

const MINUTE = 60_000
const AGE_MS = 5 * MINUTE

export function sweepRules(bench: Bench): void {
  const { jobs, age, look, accepted, attempted, published, claim, claimed, putBack, succeed, found } = bench
  const republish = (queueEmpty: boolean, max = 100) =>
    jobs().republishLost({ ageMs: AGE_MS, evidenceMs: MINUTE, queueEmpty, max })
  const rescue = (graceMs = MINUTE, max = 100) => jobs().rescue({ graceMs, budget: BUDGET, max })

  /** A job that was published, and since then nothing. */
  async function silent(tenant = 'default'): Promise<string> {
    const jobId = await accepted({ tenant })
    await published()
    return jobId
  }

  /** A job that is published and claimed now: the queue is that far. */
  async function passed(tenant = 'default'): Promise<string> {
    const jobId = await silent(tenant)
    await claimed(jobId)
    return jobId
  }

  it('republishes a job that the empty queue cannot hold, once it is old enough', async () => {
    const jobId = await silent()
    await age(AGE_MS - MINUTE)
    expect(await republish(true)).toEqual([])
    await age(2 * MINUTE)
    expect(await republish(true)).toEqual([jobId])
    expect(await look(jobId)).toMatchObject({
      outboxRows: 1,
      events: ['accepted', 'published', 'republished'],
    })
    expect(await found(jobId)).toMatchObject({ status: 'QUEUED', attempts: 0 })
  })

  it('takes age alone for no proof: a backlog is not published again', async () => {
    await silent()
    await age(24 * 60 * MINUTE)
    expect(await republish(false)).toEqual([])
  })

  it('republishes a job that the queue has moved past', async () => {
    const jobId = await silent()
    await age(2 * MINUTE)
    await passed()
    await age(AGE_MS)
    expect(await republish(false)).toEqual([jobId])
  })

  it('takes a job that was published hardly later for no proof', async () => {
    await silent()
    await age(MINUTE / 2)
    await passed()
    await age(AGE_MS)
    expect(await republish(false)).toEqual([])
  })

  it('takes a later job that nobody has claimed for no proof', async () => {
    await silent()
    await age(2 * MINUTE)
    await silent()
    await age(AGE_MS)
    expect(await republish(false)).toEqual([])
  })

  it('does not count a claim that came before the job was published once more', async () => {
    const later = await passed()
    await age(MINUTE)
    await silent()
    await putBack(later, (await found(later)).fence)
    await age(2 * MINUTE)
    await jobs().rescue({ graceMs: 0, budget: BUDGET, max: 1 })
    // The claimed job is published anew, which says nothing about how far the queue is.
    await age(AGE_MS * 2)
    await republish(true, 1)
    await published()
    await age(AGE_MS)
    expect(await republish(false)).toEqual([])
  })

  it('takes no other tenant’s word where the tenant has a later job of its own waiting', async () => {
    await silent('a')
    await age(2 * MINUTE)
    await silent('a')
    await passed('b')
    await age(AGE_MS)
    expect(await republish(false)).toEqual([])
  })

  it('takes any tenant’s word where the tenant has no later job', async () => {
    const jobId = await silent('a')
    await age(2 * MINUTE)
    await passed('b')
    await age(AGE_MS)
    expect(await republish(false)).toEqual([jobId])
  })

  it('republishes nothing that has an outbox row', async () => {
    await accepted()
    await age(AGE_MS * 2)
    expect(await republish(true)).toEqual([])
  })

  it('republishes a job that was begun before and put back, counted from when it was due', async () => {
    const jobId = await silent()
    await putBack(jobId, await claimed(jobId), true, 3 * MINUTE)
    await age(AGE_MS + MINUTE)
    expect(await republish(true)).toEqual([])
    await age(3 * MINUTE)
    expect(await republish(true)).toEqual([jobId])
  })

  it('republishes no job that is running or finished', async () => {
    const running = await silent()
    await claimed(running)
    const finished = await silent()
    await succeed(finished, await claimed(finished))
    await age(AGE_MS * 2)
    expect(await republish(true)).toEqual([])
  })

  it('waits twice as long before each further republication of a job', async () => {
    const jobId = await silent()
    await age(AGE_MS + MINUTE)
    expect(await republish(true)).toEqual([jobId])
    await published()
    await age(AGE_MS + MINUTE)
    expect(await republish(true)).toEqual([])
    await age(AGE_MS)
    expect(await republish(true)).toEqual([jobId])
    await published()
    await age(3 * AGE_MS)
    expect(await republish(true)).toEqual([])
    await age(2 * AGE_MS)
    expect(await republish(true)).toEqual([jobId])
  })

  it('republishes at most as many as asked, the longest silent first', async () => {
    const first = await silent()
    await age(MINUTE)
    const second = await silent()
    await age(AGE_MS + MINUTE)
    expect(await republish(true, 1)).toEqual([first])
    expect(await republish(true, 1)).toEqual([second])
  })

  it('rescues a job whose lease ran out longer ago than the grace', async () => {
    const jobId = await silent()
    const fence = await claimed(jobId)
    await age(LEASE_MS + MINUTE / 2)
    expect(await rescue()).toEqual([])
    await age(MINUTE)
    expect(await rescue()).toEqual([jobId])
    expect(await found(jobId)).toMatchObject({
      status: 'QUEUED',
      fence: fence + 1,
      attempts: 1,
      leaseUntil: null,
      claimableInMs: 0,
    })
    expect(await look(jobId)).toMatchObject({ outboxRows: 1 })
    expect((await look(jobId)).events.at(-1)).toBe('rescued')
    expect(await succeed(jobId, fence)).toBe(false)
  })

  it('rescues a job once, however many sweeps run at once', async () => {
    const jobId = await silent()
    await claimed(jobId)
    await age(LEASE_MS + 2 * MINUTE)
    const answers = await Promise.all(Array.from({ length: 5 }, () => rescue()))
    expect(answers.flat()).toEqual([jobId])
    expect((await look(jobId)).outboxRows).toBe(1)
  })

  it('leaves a job alone whose lease was renewed', async () => {
    const jobId = await silent()
    const fence = await claimed(jobId)
    await age(LEASE_MS + 2 * MINUTE)
    await jobs().heartbeat({ jobId, fence, leaseMs: LEASE_MS })
    expect(await rescue()).toEqual([])
    expect(await rescue(0)).toEqual([])
  })

  it('fails a dead worker’s job whose budget is spent, with its dead letter', async () => {
    const jobId = await attempted(BUDGET - 1)
    await claimed(jobId)
    await age(LEASE_MS + 2 * MINUTE)
    expect(await rescue()).toEqual([jobId])
    expect(await found(jobId)).toMatchObject({
      status: 'FAILED',
      error: { code: 'attempts_exhausted' },
      attempts: BUDGET,
    })
    expect(await look(jobId)).toMatchObject({
      outboxRows: 0,
      markers: [`${jobId}/1`],
      deadLetters: [{ verdict: 'failed' }],
    })
  })

  it('rescues at most as many as asked, the longest dead first', async () => {
    const first = await passed()
    await age(MINUTE)
    await passed()
    await age(LEASE_MS + 2 * MINUTE)
    expect(await rescue(MINUTE, 1)).toEqual([first])
  })

  it('fails QUEUED jobs past their deadline, and no others', async () => {
    const late = await accepted({ deadlineMs: MINUTE })
    const early = await accepted({ deadlineMs: 10 * MINUTE })
    const running = await accepted({ deadlineMs: MINUTE })
    const fence = await claimed(running)
    await age(2 * MINUTE)
    await jobs().heartbeat({ jobId: running, fence, leaseMs: LEASE_MS })
    expect(await jobs().expire({ max: 100 })).toEqual([late])
    expect(await found(late)).toMatchObject({ status: 'FAILED', error: { code: 'expired' } })
    expect((await look(late)).markers).toEqual([`${late}/1`])
    expect((await found(early)).status).toBe('QUEUED')
    expect((await found(running)).status).toBe('RUNNING')
    expect(await claim(early)).toMatchObject({ kind: 'claimed' })
  })

  it('expires at most as many as asked', async () => {
    await accepted({ deadlineMs: MINUTE })
    await accepted({ deadlineMs: MINUTE })
    await age(2 * MINUTE)
    expect(await jobs().expire({ max: 1 })).toHaveLength(1)
    expect(await jobs().expire({ max: 100 })).toHaveLength(1)
    expect(await jobs().expire({ max: 100 })).toEqual([])
  })
}
