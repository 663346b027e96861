import { expect, it } from 'vitest'
import { type Bench, NOTHING, newJob } from './jobs.ts'

const DAY = 86_400_000

export function retentionRules(bench: Bench): void {
  const { jobs, age, look, accepted, claimed, succeed, found } = bench

  async function finished(): Promise<string> {
    const jobId = await accepted()
    await succeed(jobId, await claimed(jobId))
    return jobId
  }

  it('makes a tombstone of a finished job, which keeps its end', async () => {
    const jobId = await finished()
    expect(await jobs().bury(jobId)).toBe(true)
    const job = await found(jobId)
    expect(job).toMatchObject({ status: 'SUCCEEDED' })
    expect(job.deletedAt).toBeInstanceOf(Date)
    expect((await look(jobId)).events.at(-1)).toBe('buried')
  })

  it('ends a job that is not finished before it buries it, which stales its holder', async () => {
    const jobId = await accepted()
    const fence = await claimed(jobId)
    expect(await jobs().bury(jobId)).toBe(true)
    expect(await found(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'deleted' } })
    expect((await look(jobId)).markers).toEqual([`${jobId}/1`])
    expect(await succeed(jobId, fence)).toBe(false)
  })

  it('buries once, and no unknown job', async () => {
    const jobId = await finished()
    await jobs().bury(jobId)
    const before = await found(jobId)
    const beside = await look(jobId)
    expect(await jobs().bury(jobId)).toBe(true)
    expect(await found(jobId)).toEqual(before)
    expect(await look(jobId)).toEqual(beside)
    expect(await jobs().bury('img_unknown')).toBe(false)
  })

  it('buries finished jobs of an age, the oldest first, and no others', async () => {
    const first = await finished()
    await age(DAY)
    const second = await finished()
    await age(DAY)
    await finished()
    await accepted()
    const buryFinished = () => jobs().buryFinished({ ageMs: DAY / 2, max: 1 })
    expect(await buryFinished()).toEqual([first])
    expect(await buryFinished()).toEqual([second])
    expect(await buryFinished()).toEqual([])
  })

  it('lists tombstones until their objects are known to be gone', async () => {
    const jobId = await finished()
    const other = await finished()
    await jobs().bury(jobId)
    expect(await jobs().tombstonesWithObjects({ max: 100 })).toEqual([jobId])
    await jobs().confirmObjectsGone([jobId, other])
    expect(await jobs().tombstonesWithObjects({ max: 100 })).toEqual([])
    await jobs().bury(other)
    expect(await jobs().tombstonesWithObjects({ max: 100 })).toEqual([other])
  })

  it('lists tombstones of an age', async () => {
    const jobId = await finished()
    await jobs().bury(jobId)
    expect(await jobs().oldTombstones({ ageMs: DAY, max: 100 })).toEqual([])
    await age(2 * DAY)
    expect(await jobs().oldTombstones({ ageMs: DAY, max: 100 })).toEqual([jobId])
  })

  it('forgets tombstones with all that hangs on them, and nothing that is no tombstone', async () => {
    const reservation = { tenant: 'default', key: 'key', token: 'a' }
    await jobs().reserve({ ...reservation, leaseMs: 10_000 })
    const idempotency = { key: 'key', token: 'a', fingerprint: 'print' }
    const callbackUrl = 'https://hooks.example/'
    await jobs().accept({ ...newJob('img_keyed'), idempotency, callbackUrl })
    await jobs().bury('img_keyed')
    const alive = await finished()
    await jobs().forget(['img_keyed', alive])
    expect(await jobs().find('img_keyed')).toBeNull()
    expect(await look('img_keyed')).toEqual(NOTHING)
    expect(await jobs().reserve({ ...reservation, token: 'b', leaseMs: 10_000 })).toEqual({
      kind: 'reserved',
    })
    expect((await found(alive)).status).toBe('SUCCEEDED')
  })

  it('forgets dead reservations of an age, and no accepted key', async () => {
    const reserve = (key: string, token: string) =>
      jobs().reserve({ tenant: 'default', key, token, leaseMs: 10_000 })
    await reserve('dead', 'a')
    await reserve('accepted', 'b')
    const idempotency = { key: 'accepted', token: 'b', fingerprint: 'print' }
    await jobs().accept({ ...newJob('img_accepted'), idempotency })
    await age(2 * DAY)
    await reserve('alive', 'c')
    await jobs().forgetReservations({ ageMs: DAY })
    const renew = (key: string, token: string) =>
      jobs().renewReservation({ tenant: 'default', key, token, leaseMs: 10_000 })
    expect(await renew('dead', 'a')).toBe(false)
    expect(await renew('alive', 'c')).toBe(true)
    expect(await reserve('accepted', 'd')).toMatchObject({ kind: 'accepted' })
  })

  it('knows which ids have a row', async () => {
    const jobId = await accepted()
    expect(await jobs().existing([jobId, 'img_unknown'])).toEqual([jobId])
  })

  it('takes empty lists', async () => {
    expect(await jobs().existing([])).toEqual([])
    await expect(jobs().forget([])).resolves.toBeUndefined()
    await expect(jobs().confirmObjectsGone([])).resolves.toBeUndefined()
  })
}
