import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { callbackId } from '../core/callback.ts'
import type { CallbackVerdict, SendOutcome } from '../core/callback-schedule.ts'
import type { Callbacks } from '../core/ports/callbacks.ts'
import { newJob } from '../test/conformance/jobs.ts'
import { openTestDatabase } from '../test/opened-database.ts'
import { enableReceiver, listDisabledReceivers, setTenantUrl } from './callback-receivers.ts'
import { createPostgresCallbacks } from './callbacks.ts'
import { createPostgresJobs } from './jobs/postgres-jobs.ts'

const db = await openTestDatabase()
const jobs = createPostgresJobs(db)
const callbacks = createPostgresCallbacks(db)
let minted = 0

beforeEach(() => sql`truncate jobs, tenants, disabled_callback_urls, callback_secrets cascade`.execute(db))

/** A job that has ended, and with it asked for a callback. */
async function owed(url: string | null = 'https://a.example/', tenant = 'one'): Promise<string> {
  const jobId = `img_${++minted}`
  await jobs.accept({ ...newJob(jobId), tenant, callbackUrl: url })
  await jobs.end({
    ...{ jobId, by: { kind: 'owner' } },
    end: { status: 'FAILED', error: { code: 'corrupt', message: 'no image' } },
  })
  return jobId
}

const claim = (token = 'a', more: Partial<Parameters<Callbacks['claim']>[0]> = {}) =>
  callbacks.claim({ token, max: 100, leaseMs: 60_000, perHost: 100, perTenant: 100, ...more })
const ids = (found: readonly { jobId: string }[]) => found.map(({ jobId }) => jobId).sort()
const OK: SendOutcome = { kind: 'answered', statusCode: 200, retryAfterMs: null }
const record = (jobId: string, verdict: CallbackVerdict, token = 'a', outcome: SendOutcome = OK) =>
  callbacks.record({ callbackId: callbackId(jobId, 1), token, durationMs: 5, outcome, verdict })
const only = async (jobId: string) => (await callbacks.list(jobId))[0]!
/** Time passes. */
const age = (seconds: number) =>
  sql`update callbacks set next_attempt_at = next_attempt_at - ${seconds}::int * interval '1 second'`.execute(
    db,
  )

describe('what is owed', () => {
  it('goes to the job’s own URL, or else to what is the tenant’s when the job ends', async () => {
    await setTenantUrl(db, 'one', 'https://tenant.example/')
    const [own, tenants, others] = [await owed(), await owed(null), await owed(null, 'two')]
    expect((await only(own)).url).toBe('https://a.example/')
    expect((await only(tenants)).url).toBe('https://tenant.example/')
    expect(await callbacks.list(others)).toEqual([])
    await setTenantUrl(db, 'one', null)
    expect(await callbacks.list(await owed(null))).toEqual([])
  })

  it('says what the job’s end was, whatever becomes of the job later', async () => {
    const jobId = await owed()
    await jobs.bury(jobId)
    const [due] = await claim()
    expect(due).toMatchObject({
      ...{ callbackId: callbackId(jobId, 1), jobId, event: 'job.failed', tenant: 'one', sends: 1 },
      error: { code: 'corrupt', message: 'no image' },
      createdAt: (await jobs.find(jobId))?.finishedAt,
    })
  })

  it('goes with the job’s row', async () => {
    const jobId = await owed()
    await jobs.bury(jobId)
    await claim()
    await record(jobId, { state: 'PENDING', delayMs: 0 })
    await jobs.forget([jobId])
    expect(await callbacks.list(jobId)).toEqual([])
    expect(await claim()).toEqual([])
    // A sender that was still at it finds nothing to write to.
    await record(jobId, { state: 'DELIVERED' })
  })
})

describe('a claim', () => {
  it('takes what is due, once, until its lease has run out', async () => {
    const jobId = await owed()
    expect(ids(await claim())).toEqual([jobId])
    expect(await claim('b')).toEqual([])
    await age(61)
    expect((await claim('b'))[0]).toMatchObject({ jobId, sends: 2 })
  })

  it('gives each callback to one of many that claim at once', async () => {
    const owedIds = []
    for (let i = 0; i < 20; i++) owedIds.push(await owed(`https://host-${i % 5}.example/`))
    const claims = await Promise.all(Array.from({ length: 6 }, (_, i) => claim(`token-${i}`)))
    expect(ids(claims.flat())).toEqual(owedIds.sort())
  })

  it('leaves a receiver no more than its share, what is in flight included, and the others theirs', async () => {
    for (let i = 0; i < 10; i++) await owed('https://dead.example/')
    const alive = await owed('https://alive.example/')
    const first = await claim('a', { perHost: 3 })
    expect(first).toHaveLength(4)
    expect(ids(first)).toContain(alive)
    expect(await claim('b', { perHost: 3 })).toEqual([])
    await record(first.find(({ jobId }) => jobId !== alive)!.jobId, { state: 'GIVEN_UP' })
    expect(await claim('b', { perHost: 3 })).toHaveLength(1)
  })

  it('leaves a tenant no more than its share, however many receivers it has', async () => {
    for (let i = 0; i < 10; i++) await owed(`https://host-${i}.example/`)
    const other = await owed('https://host-0.example/', 'two')
    const first = await claim('a', { perTenant: 4 })
    expect(first).toHaveLength(5)
    expect(ids(first)).toContain(other)
    expect(await claim('b', { perTenant: 4 })).toEqual([])
  })

  it('is not kept from a receiver by others of its tenant that have no room', async () => {
    for (const host of ['dead-1', 'dead-2', 'dead-3']) {
      for (let i = 0; i < 8; i++) await owed(`https://${host}.example/`)
    }
    expect(await claim('a', { perHost: 4, perTenant: 16 })).toHaveLength(12)
    const alive = await owed('https://alive.example/')
    expect(ids(await claim('b', { perHost: 4, perTenant: 16 }))).toEqual([alive])
  })

  it('is not kept from a tenant by another that has no room', async () => {
    for (let i = 0; i < 4; i++) await owed(`https://dead-${i}.example/`)
    expect(await claim('a', { perHost: 4, perTenant: 4 })).toHaveLength(4)
    for (let i = 0; i < 8; i++) await owed('https://shared.example/')
    const other = await owed('https://shared.example/', 'two')
    expect(ids(await claim('b', { perHost: 4, perTenant: 4 }))).toEqual([other])
  })

  it('finds each receiver of a tenant that has more of them than it looks at', async () => {
    const jobIds = []
    for (let i = 0; i < 350; i++) jobIds.push(await owed(`https://host-${i}.example/`))
    const found: string[] = []
    while (found.length < jobIds.length) {
      const more = await claim('a', { max: 1_000, perTenant: 1_000 })
      expect(more.length).toBeLessThanOrEqual(200)
      found.push(...ids(more))
      for (const jobId of ids(more)) await record(jobId, { state: 'DELIVERED' })
    }
    expect(found.sort()).toEqual(jobIds.sort())
  })

  it('takes what was never sent before what failed', async () => {
    const failed = await owed()
    await claim()
    await record(failed, { state: 'PENDING', delayMs: 0 })
    const fresh = await owed()
    expect(ids(await claim('b', { max: 1 }))).toEqual([fresh])
    expect(ids(await claim('b', { max: 1 }))).toEqual([failed])
  })

  it('comes with the tenant’s secrets, newest first, and without those that have expired', async () => {
    const insert = (tenant: string, secret: string, expires: string | null) =>
      sql`insert into callback_secrets (tenant, secret, expires_at)
        values (${tenant}, ${secret}, now() + ${expires}::interval)`.execute(db)
    await insert('one', 'expired', '-1 second')
    await insert('one', 'old', '1 hour')
    await insert('one', 'new', null)
    await insert('two', 'others', null)
    await owed()
    expect((await claim())[0]?.secrets).toEqual(['new', 'old'])
  })
})

describe('a record', () => {
  it('keeps each send, answered or not, and what became of the callback', async () => {
    const jobId = await owed()
    await claim()
    await record(jobId, { state: 'PENDING', delayMs: 5_000 }, 'a', { kind: 'failed', error: 'timeout' })
    expect(await only(jobId)).toMatchObject({ state: 'PENDING', sends: 1, finishedAt: null })
    expect(await claim('b')).toEqual([])
    await age(6)
    await claim('b')
    await record(jobId, { state: 'DELIVERED' }, 'b')
    expect(await only(jobId)).toMatchObject({
      ...{ state: 'DELIVERED', sends: 2, nextAttemptAt: null, finishedAt: expect.any(Date) },
      attempts: [
        { statusCode: null, error: 'timeout', durationMs: 5, at: expect.any(Date) },
        { statusCode: 200, error: null, durationMs: 5, at: expect.any(Date) },
      ],
    })
    await age(1_000_000)
    expect(await claim('c')).toEqual([])
  })

  it('of a sender whose lease another took over is kept, and decides nothing', async () => {
    const jobId = await owed()
    await claim('stalled')
    await age(61)
    await claim('next')
    await record(jobId, { state: 'GIVEN_UP' }, 'stalled')
    expect(await only(jobId)).toMatchObject({ state: 'PENDING', attempts: [{ statusCode: 200 }] })
    await record(jobId, { state: 'DELIVERED' }, 'next')
    expect(await only(jobId)).toMatchObject({ state: 'DELIVERED', attempts: [{}, {}] })
  })
})

describe('a receiver that wants no more', () => {
  const GONE: SendOutcome = { kind: 'answered', statusCode: 410, retryAfterMs: null }

  it('is sent nothing that is owed to this URL of this tenant, now or later', async () => {
    const [gone, waiting] = [await owed(), await owed()]
    const others = [await owed('https://a.example/other'), await owed('https://a.example/', 'two')]
    await claim('a', { max: 1 })
    await record(gone, { state: 'DISABLED' }, 'a', GONE)
    const later = await owed()
    for (const jobId of [gone, waiting, later]) {
      expect(await only(jobId)).toMatchObject({ state: 'DISABLED', finishedAt: expect.any(Date) })
    }
    expect(ids(await claim('b'))).toEqual(others.sort())
    expect(await listDisabledReceivers(db, 'one')).toMatchObject([{ url: 'https://a.example/', withheld: 3 }])
    expect(await listDisabledReceivers(db, 'two')).toEqual([])
  })

  it('is sent what was withheld once an operator enables it', async () => {
    const gone = await owed()
    await claim()
    await record(gone, { state: 'DISABLED' }, 'a', GONE)
    const later = await owed()
    expect(await enableReceiver(db, 'one', 'https://b.example/')).toBeNull()
    expect(await enableReceiver(db, 'one', 'https://a.example/')).toBe(2)
    expect(ids(await claim('b'))).toEqual([gone, later].sort())
    expect(await listDisabledReceivers(db, 'one')).toEqual([])
  })

  it('is sent what its tenant asks for again, and later ones once it took that', async () => {
    const gone = await owed()
    await claim()
    await record(gone, { state: 'DISABLED' }, 'a', GONE)
    expect(await callbacks.resend({ jobId: gone, callbackId: callbackId(gone, 1) })).toBe('due')
    expect((await only(await owed())).state).toBe('DISABLED')
    expect(ids(await claim('b'))).toEqual([gone])
    await record(gone, { state: 'DELIVERED' }, 'b')
    expect((await only(await owed())).state).toBe('PENDING')
  })
})

describe('a callback that is asked for again', () => {
  it.each(['DELIVERED', 'GIVEN_UP'] as const)(
    'is due at once after %s, with all of its tries',
    async (state) => {
      const jobId = await owed()
      const { callbackId } = (await claim())[0]!
      await record(jobId, { state })
      expect(await callbacks.resend({ jobId, callbackId })).toBe('due')
      expect(await only(jobId)).toMatchObject({
        state: 'PENDING',
        sends: 0,
        finishedAt: null,
        attempts: [{}],
      })
      expect((await claim('b'))[0]).toMatchObject({ callbackId, sends: 1 })
    },
  )

  it('is not sent twice at a time', async () => {
    const jobId = await owed()
    const { callbackId } = (await claim())[0]!
    expect(await callbacks.resend({ jobId, callbackId })).toBe('in_flight')
    await age(61)
    expect(await callbacks.resend({ jobId, callbackId })).toBe('due')
  })

  it('has to be this job’s', async () => {
    const [jobId, other] = [await owed(), await owed()]
    expect(await callbacks.resend({ jobId, callbackId: callbackId(other, 1) })).toBe('unknown')
    expect(await callbacks.resend({ jobId, callbackId: 'msg_unknown' })).toBe('unknown')
  })
})
