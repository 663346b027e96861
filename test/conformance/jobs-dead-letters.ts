import { expect, it } from 'vitest'
import { type Bench, BUDGET, LEASE_MS } from './jobs.ts'

export function deadLetterRules(bench: Bench): void {
  const { jobs, age, look, accepted, attempted, published, claimed, succeed, found } = bench
  const take = (jobId: string | null, messageId = 'message', generation: number | null = 1) =>
    jobs().takeDeadLetter({
      messageId,
      jobId,
      generation,
      body: 'the body',
      reason: 'received too often',
      receiveCount: 51,
      budget: BUDGET,
    })

  it('keeps the letter of a job that nobody knows', async () => {
    expect(await take('img_unknown')).toEqual({ kind: 'no_such_job' })
    expect((await look('img_unknown')).deadLetters).toEqual([
      { messageId: 'message', verdict: 'no_such_job', reason: 'received too often', receiveCount: 51 },
    ])
  })

  it('keeps a letter that names no job', async () => {
    expect(await take(null, 'message', null)).toEqual({ kind: 'no_such_job' })
    expect(await take(null, 'message', null)).toEqual({ kind: 'no_such_job' })
  })

  it('finds a finished job’s letter to be none, and changes nothing', async () => {
    const jobId = await accepted()
    await succeed(jobId, await claimed(jobId))
    const before = await found(jobId)
    expect(await take(jobId)).toEqual({ kind: 'false_quarantine' })
    expect(await found(jobId)).toEqual(before)
    expect(await look(jobId)).toMatchObject({
      deadLetters: [{ verdict: 'false_quarantine' }],
      markers: [`${jobId}/1`],
    })
  })

  it('sets a letter aside that is of an older generation than the job', async () => {
    const jobId = await accepted()
    await published()
    expect(await take(jobId, 'message', 0)).toEqual({ kind: 'superseded' })
    expect((await found(jobId)).status).toBe('QUEUED')
    expect(await look(jobId)).toMatchObject({ outboxRows: 0, deadLetters: [{ verdict: 'superseded' }] })
  })

  it('holds a letter whose job a worker holds, and records nothing', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    const verdict = await take(jobId)
    expect(verdict).toMatchObject({ kind: 'hold' })
    expect((verdict as { retryInMs: number }).retryInMs).toBeGreaterThan(LEASE_MS - 10_000)
    expect((await look(jobId)).deadLetters).toEqual([])
    await succeed(jobId, fence)
    expect(await take(jobId)).toEqual({ kind: 'false_quarantine' })
  })

  it('gives a job with budget left a new message, once', async () => {
    const jobId = await attempted(1)
    expect(await take(jobId, 'first')).toEqual({ kind: 'republished' })
    expect(await look(jobId)).toMatchObject({ outboxRows: 1, deadLetters: [{ verdict: 'republished' }] })
    expect((await look(jobId)).events.at(-1)).toBe('redriven')
    await published()
    expect(await take(jobId, 'second')).toEqual({ kind: 'failed' })
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'dead_lettered' } })
    expect(await look(jobId)).toMatchObject({
      markers: [`${jobId}/1`],
      deadLetters: [
        { messageId: 'first', verdict: 'republished' },
        { messageId: 'second', verdict: 'failed' },
      ],
    })
  })

  it('keeps the one outbox row of a job that has one', async () => {
    const jobId = await accepted()
    expect(await take(jobId)).toEqual({ kind: 'republished' })
    expect((await look(jobId)).outboxRows).toBe(1)
  })

  it('takes its row away from a relay that sent the message before it died: the confirmation comes too late', async () => {
    const jobId = await accepted()
    const rows = await jobs().claimOutbox({ token: 'slow', max: 100, leaseMs: LEASE_MS })
    expect(await take(jobId)).toEqual({ kind: 'republished' })
    await jobs().confirmPublished({ token: 'slow', rowIds: rows.map(({ rowId }) => rowId) })
    expect((await look(jobId)).outboxRows).toBe(1)
    // Free at once, so that nothing waits for the slow relay's lease.
    expect(await published('other')).toEqual([jobId])
  })

  it('makes a job QUEUED again whose worker died, which stales the worker', async () => {
    const jobId = await accepted()
    await published()
    const fence = await claimed(jobId)
    await age(LEASE_MS + 1_000)
    expect(await take(jobId)).toEqual({ kind: 'republished' })
    const job = await found(jobId)
    expect(job).toMatchObject({ status: 'QUEUED', leaseUntil: null, attempts: 1 })
    expect(job.fence).toBeGreaterThan(fence)
    expect(await succeed(jobId, fence)).toBe(false)
  })

  it('fails a job whose budget is spent', async () => {
    const jobId = await attempted(BUDGET)
    expect(await take(jobId)).toEqual({ kind: 'failed' })
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'dead_lettered' } })
    expect(await look(jobId)).toMatchObject({
      outboxRows: 0,
      deadLetters: [{ messageId: 'message', verdict: 'failed', receiveCount: 51 }],
    })
  })

  it('fails a job whose last attempt died with its worker, from the end of its lease on', async () => {
    const jobId = await attempted(BUDGET - 1)
    await claimed(jobId)
    await age(LEASE_MS)
    expect(await take(jobId)).toEqual({ kind: 'failed' })
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'dead_lettered' } })
  })

  it('answers a message that is recorded already as it was then, and changes nothing', async () => {
    const jobId = await attempted(1)
    await take(jobId)
    await published()
    const before = await found(jobId)
    const beside = await look(jobId)
    expect(await take(jobId)).toEqual({ kind: 'republished' })
    expect(await found(jobId)).toEqual(before)
    expect(await look(jobId)).toEqual(beside)
  })

  it('parks a message that nobody can read, once', async () => {
    const letter = { messageId: 'message', body: '{', reason: 'the body is not JSON', receiveCount: 1 }
    await jobs().parkMessage(letter)
    await jobs().parkMessage(letter)
    expect(await take(null)).toEqual({ kind: 'no_such_job' })
  })
}
