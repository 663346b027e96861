import { expect, it } from 'vitest'
import { type Bench, LEASE_MS } from './jobs.ts'

export function publishingRules({ jobs, age, look, accepted, claimed, found, succeed }: Bench): void {
  const claimOutbox = (token: string, max = 100) => jobs().claimOutbox({ token, max, leaseMs: LEASE_MS })
  const rowIds = (rows: readonly { rowId: string }[]) => rows.map(({ rowId }) => rowId)

  it('claims rows in the order of their ids, with what a message needs', async () => {
    const first = await accepted()
    const second = await accepted()
    expect(await claimOutbox('a')).toMatchObject([
      { jobId: first, objectKey: `originals/${first}`, generation: 1, tries: 1 },
      { jobId: second, objectKey: `originals/${second}`, generation: 1, tries: 1 },
    ])
  })

  it('claims at most as many rows as asked, the first ones first', async () => {
    const first = await accepted()
    const second = await accepted()
    expect(await claimOutbox('a', 1)).toMatchObject([{ jobId: first }])
    expect(await claimOutbox('b', 1)).toMatchObject([{ jobId: second }])
  })

  it('hides claimed rows from others until the lease ran out, and counts the tries', async () => {
    const jobId = await accepted()
    await claimOutbox('a')
    expect(await claimOutbox('b')).toEqual([])
    await age(LEASE_MS + 1_000)
    expect(await claimOutbox('b')).toMatchObject([{ jobId, tries: 2 }])
  })

  it('removes confirmed rows and notes when their jobs were published', async () => {
    const jobId = await accepted()
    await jobs().confirmPublished({ token: 'a', rowIds: rowIds(await claimOutbox('a')) })
    expect(await look(jobId)).toMatchObject({ outboxRows: 0, events: ['accepted', 'published'] })
    expect((await found(jobId)).publishedAt).toBeInstanceOf(Date)
  })

  it('removes exactly the confirmed rows', async () => {
    const first = await accepted()
    const second = await accepted()
    const rows = await claimOutbox('a')
    await jobs().confirmPublished({ token: 'a', rowIds: [rows[1]!.rowId] })
    expect((await look(first)).outboxRows).toBe(1)
    expect((await found(first)).publishedAt).toBeNull()
    expect((await look(second)).outboxRows).toBe(0)
  })

  it('confirms nothing that another token holds by now', async () => {
    const jobId = await accepted()
    const rows = await claimOutbox('a')
    await age(LEASE_MS + 1_000)
    await claimOutbox('b')
    await jobs().confirmPublished({ token: 'a', rowIds: rowIds(rows) })
    expect((await look(jobId)).outboxRows).toBe(1)
    expect((await found(jobId)).publishedAt).toBeNull()
  })

  it('confirms a row whose lease ran out while nobody else claimed it', async () => {
    const jobId = await accepted()
    const rows = await claimOutbox('a')
    await age(LEASE_MS + 1_000)
    await jobs().confirmPublished({ token: 'a', rowIds: rowIds(rows) })
    expect((await look(jobId)).outboxRows).toBe(0)
  })

  it('does nothing for a list without rows', async () => {
    await expect(jobs().confirmPublished({ token: 'a', rowIds: [] })).resolves.toBeUndefined()
    await expect(jobs().returnToOutbox({ token: 'a', rowIds: [], delayMs: 0 })).resolves.toBeUndefined()
  })

  it('gives returned rows out again, after their delay and under any token', async () => {
    const jobId = await accepted()
    await jobs().returnToOutbox({ token: 'a', rowIds: rowIds(await claimOutbox('a')), delayMs: 5_000 })
    expect(await claimOutbox('b')).toEqual([])
    await age(6_000)
    expect(await claimOutbox('b')).toMatchObject([{ jobId, tries: 2 }])
  })

  it('returns nothing that another token holds by now', async () => {
    await accepted()
    const rows = await claimOutbox('a')
    await age(LEASE_MS + 1_000)
    await claimOutbox('b')
    await jobs().returnToOutbox({ token: 'a', rowIds: rowIds(rows), delayMs: 0 })
    await age(1_000)
    expect(await claimOutbox('c')).toEqual([])
  })

  it('leaves a returned row out of a confirmation that comes late', async () => {
    const jobId = await accepted()
    const rows = await claimOutbox('a')
    await jobs().returnToOutbox({ token: 'a', rowIds: rowIds(rows), delayMs: 0 })
    await jobs().confirmPublished({ token: 'a', rowIds: rowIds(rows) })
    expect((await look(jobId)).outboxRows).toBe(1)
  })

  const refuse = (token: string, rowId: string) =>
    jobs().refusePublication({ token, rowId, body: 'the body', reason: 'too long' })

  it('fails the job of a refused row, and records the letter, in one', async () => {
    const jobId = await accepted()
    const [row] = await claimOutbox('a')
    await refuse('a', row!.rowId)
    expect(await found(jobId)).toMatchObject({
      status: 'FAILED',
      error: { code: 'publish_refused', message: 'too long' },
    })
    expect(await look(jobId)).toEqual({
      events: ['accepted', 'failed'],
      outboxRows: 0,
      markers: [`${jobId}/1`],
      deadLetters: [{ messageId: null, verdict: 'failed', reason: 'too long', receiveCount: 0 }],
      callbacks: [],
    })
  })

  it('refuses nothing that another token holds by now', async () => {
    const jobId = await accepted()
    const [row] = await claimOutbox('a')
    await age(LEASE_MS + 1_000)
    await claimOutbox('b')
    await refuse('a', row!.rowId)
    expect((await found(jobId)).status).toBe('QUEUED')
    expect(await look(jobId)).toMatchObject({ outboxRows: 1, deadLetters: [] })
  })

  it('keeps a refused row while a worker holds its job, and fails the job when the lease ends without an end', async () => {
    const jobId = await accepted()
    const [row] = await claimOutbox('a')
    await claimed(jobId)
    await refuse('a', row!.rowId)
    expect((await found(jobId)).status).toBe('RUNNING')
    expect(await look(jobId)).toMatchObject({ outboxRows: 1, markers: [], deadLetters: [] })
    expect(await claimOutbox('b')).toEqual([])

    await age(LEASE_MS + 1_000)
    const [again] = await claimOutbox('c')
    await refuse('c', again!.rowId)
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'publish_refused' } })
    expect(await look(jobId)).toMatchObject({ outboxRows: 0, deadLetters: [{ verdict: 'failed' }] })
  })

  it('does not fail the job of a refused row once it is finished', async () => {
    const jobId = await accepted()
    const [row] = await claimOutbox('a')
    await succeed(jobId, await claimed(jobId))
    await refuse('a', row!.rowId)
    expect(await found(jobId)).toMatchObject({ status: 'SUCCEEDED', error: null })
    expect((await look(jobId)).markers).toEqual([`${jobId}/1`])
  })
}
