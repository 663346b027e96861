import { expect, it } from 'vitest'
import type { JobPage, ListCursor } from '../../core/ports/jobs.ts'
import { type Bench, newJob } from './jobs.ts'

export function readingRules({ jobs, age, accepted, published, claimed, putBack, succeed }: Bench): void {
  const page = (more: Partial<Parameters<ReturnType<typeof jobs>['list']>[0]> = {}) =>
    jobs().list({ tenant: 'default', status: null, createdAfter: null, cursor: null, limit: 10, ...more })
  const idsOf = ({ jobs }: JobPage) => jobs.map(({ jobId }) => jobId)
  const transitions = async (jobId: string, afterId = '0') =>
    (await jobs().transitionsAfter([{ jobId, afterId }])).map(({ event, fence, attempts }) => [
      event,
      fence,
      attempts,
    ])

  it('finds the job of a key, for its tenant alone', async () => {
    const reservation = { tenant: 'default', key: 'key', token: 'a' }
    expect(await jobs().findByKey(reservation)).toBeNull()
    await jobs().reserve({ ...reservation, leaseMs: 10_000 })
    expect(await jobs().findByKey(reservation)).toBeNull()
    await accepted({ jobId: 'img_a', idempotency: { key: 'key', token: 'a', fingerprint: 'print' } })
    expect(await jobs().findByKey(reservation)).toMatchObject({ jobId: 'img_a', status: 'QUEUED' })
    expect(await jobs().findByKey({ tenant: 'other', key: 'key' })).toBeNull()
  })

  it('finds those that have ended among many', async () => {
    const [done, cancelled, waiting] = [await accepted(), await accepted(), await accepted()]
    await succeed(done, await claimed(done))
    await jobs().bury(cancelled)
    const ended = await jobs().endedAmong([done, cancelled, waiting, 'img_unknown'])
    expect(ended.map(({ jobId, status }) => [jobId, status]).sort()).toEqual(
      [
        [done, 'SUCCEEDED'],
        [cancelled, 'FAILED'],
      ].sort(),
    )
    expect(await jobs().endedAmong([])).toEqual([])
  })

  it('gives the transitions of each job in their order, what became of its message left out', async () => {
    const [jobId, other] = [await accepted(), await accepted()]
    await published()
    await putBack(jobId, await claimed(jobId))
    await succeed(jobId, await claimed(jobId))
    expect(await transitions(jobId)).toEqual([
      ['accepted', 0, 0],
      ['claimed', 1, 1],
      ['put_back', 2, 1],
      ['claimed', 3, 2],
      ['succeeded', 3, 2],
    ])
    expect(await transitions(other)).toEqual([['accepted', 0, 0]])
  })

  it('gives the transitions that came after each job’s own, of many jobs at once', async () => {
    const [first, second] = [await accepted(), await accepted()]
    const [known] = await jobs().transitionsAfter([{ jobId: first, afterId: '0' }])
    await claimed(first)
    const news = await jobs().transitionsAfter([
      { jobId: first, afterId: known!.eventId },
      { jobId: second, afterId: '0' },
      { jobId: 'img_unknown', afterId: '0' },
    ])
    expect(news.map(({ jobId, event }) => [jobId, event]).sort()).toEqual(
      [
        [first, 'claimed'],
        [second, 'accepted'],
      ].sort(),
    )
    const ids = news.map(({ eventId }) => BigInt(eventId))
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)))
    expect(await jobs().transitionsAfter([])).toEqual([])
  })

  it('says why a job failed with the transition that failed it', async () => {
    const jobId = await accepted()
    const error = { code: 'cancelled', message: 'the job was cancelled' } as const
    await jobs().end({ jobId, by: { kind: 'owner' }, end: { status: 'FAILED', error } })
    const all = await jobs().transitionsAfter([{ jobId, afterId: '0' }])
    expect(all.map(({ event, error }) => [event, error])).toEqual([
      ['accepted', null],
      ['failed', error],
    ])
  })

  it('lists a tenant’s jobs, newest first, page by page', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      ids.unshift(await accepted())
      await age(1_000)
    }
    await accepted({ tenant: 'other' })
    const seen: string[] = []
    let cursor: ListCursor | null = null
    do {
      const next: JobPage = await page({ limit: 2, cursor })
      seen.push(...idsOf(next))
      cursor = next.next
    } while (cursor)
    expect(seen).toEqual(ids)
    expect(await page({ limit: 5 })).toMatchObject({ next: null })
  })

  it('goes on behind a cursor though jobs came, ended and were buried since', async () => {
    const ids: string[] = []
    for (let i = 0; i < 4; i++) {
      ids.unshift(await accepted())
      await age(1_000)
    }
    const first = await page({ limit: 2 })
    await accepted()
    await jobs().bury(ids[1]!)
    await jobs().bury(ids[2]!)
    expect(idsOf(await page({ limit: 2, cursor: first.next }))).toEqual([ids[3]])
  })

  it('tells jobs that were accepted at one time apart by their ids', async () => {
    const ids = ['img_a', 'img_c', 'img_b']
    await Promise.all(ids.map((jobId) => jobs().accept(newJob(jobId))))
    const whole = idsOf(await page())
    const first = await page({ limit: 1 })
    const second = await page({ limit: 2, cursor: first.next })
    expect([...idsOf(first), ...idsOf(second)]).toEqual(whole)
    expect(whole.toSorted()).toEqual(ids.toSorted())
  })

  it('lists only jobs of a status, and only those accepted after a time', async () => {
    const old = await accepted()
    await age(5_000)
    const young = await accepted()
    await succeed(old, await claimed(old))
    expect(idsOf(await page({ status: 'SUCCEEDED' }))).toEqual([old])
    expect(idsOf(await page({ status: 'QUEUED' }))).toEqual([young])
    const { createdAt } = (await jobs().find(old))!
    expect(idsOf(await page({ createdAfter: createdAt }))).toEqual([young])
    expect(idsOf(await page({ createdAfter: new Date(createdAt.getTime() - 1) }))).toEqual([young, old])
  })

  it('lists no tombstone', async () => {
    const jobId = await accepted()
    await jobs().bury(jobId)
    expect(await page()).toEqual({ jobs: [], next: null })
  })

  it('measures nothing where nothing is', async () => {
    expect(await jobs().queuePace()).toEqual({
      ended: 0,
      withinMs: 0,
      workMs: null,
      running: 0,
      waiting: 0,
      oldestDueAt: null,
      newestDueAt: null,
      oldestWaitedMs: 0,
    })
  })

  it('measures how long the newest work took, and what waits', async () => {
    const done = await accepted()
    const fence = await claimed(done)
    await age(4_000)
    await succeed(done, fence)
    await age(10_000)
    const oldest = await accepted()
    await age(6_000)
    await accepted()
    await claimed(await accepted())
    const later = await accepted()
    await putBack(later, await claimed(later), true, 60_000)
    const pace = await jobs().queuePace()
    expect(pace).toMatchObject({ ended: 1, running: 1, waiting: 2 })
    expect(pace.workMs).toBeGreaterThanOrEqual(4_000)
    expect(pace.withinMs).toBeGreaterThanOrEqual(16_000)
    expect(pace.oldestWaitedMs).toBeGreaterThanOrEqual(6_000)
    expect(pace.oldestDueAt).toEqual((await jobs().find(oldest))!.runAt)
    expect(pace.newestDueAt!.getTime()).toBeGreaterThan(pace.oldestDueAt!.getTime())
  })

  it('forgets, for the pace, what ended long ago', async () => {
    const done = await accepted()
    await succeed(done, await claimed(done))
    await age(601_000)
    expect(await jobs().queuePace()).toMatchObject({ ended: 0, workMs: null })
  })
}
