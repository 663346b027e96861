import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TenantLimits } from '../../core/ports/tenants.ts'
import { MAX_UPLOADS_AT_ONCE } from './rate-uploads.ts'
import { createMemoryTenants } from './testing/memory-tenants.ts'
import { makePng } from './testing/png.ts'
import { openRaw, type RawConnection } from './testing/raw-http.ts'
import { type ApiUnderTest, problemOf, startApi } from './testing/start-api.ts'

const png = makePng()
let api: ApiUnderTest
let memory: ReturnType<typeof createMemoryTenants>

/** Starts the API, and gives a key of tenant `a` with these limits. */
async function start(limits: Partial<TenantLimits>): Promise<string> {
  memory = createMemoryTenants()
  api = await startApi({ tenants: memory.tenants })
  memory.state.tables = api.tables
  return memory.makeKey('a', limits)
}
afterEach(() => api.stop())

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })
const post = (key: string) => api.post(png, { ...bearer(key), 'Content-Type': 'image/png' })
const head = (key: string) =>
  `POST /v1/images HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: image/png\r\nContent-Length: ${png.length}\r\n\r\n`

describe('the rate', () => {
  it('is told with every answer, problems included', async () => {
    const key = await start({ ratePerSecond: 0.01, burst: 3 })
    const found = await api.get('/v1/jobs/img_0', { headers: bearer(key) })
    expect(found.headers.get('ratelimit-policy')).toBe('"requests";q=3;w=300')
    expect(found.headers.get('ratelimit')).toBe('"requests";r=2;t=100')
    expect((await post(key)).headers.get('ratelimit')).toMatch(/^"requests";r=1;t=/)
  })

  it('that is passed is answered 429, saying when to come back, and nothing is stored', async () => {
    const key = await start({ ratePerSecond: 0.01, burst: 1 })
    expect((await post(key)).status).toBe(202)
    const refused = await post(key)
    expect(refused.status).toBe(429)
    expect(await problemOf(refused)).toMatchObject({ code: 'rate_limited', retryable: true })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(99)
    expect(refused.headers.get('ratelimit')).toBe(`"requests";r=0;t=${refused.headers.get('retry-after')}`)
    expect(await api.keys()).toHaveLength(1)
    expect(api.tables.jobs.size).toBe(1)
  })

  it('is passed by one tenant without any other’s noticing', async () => {
    const key = await start({ ratePerSecond: 0.01, burst: 1 })
    const other = memory.makeKey('b')
    const flood = Promise.all(Array.from({ length: 200 }, () => post(key)))
    expect((await post(other)).status).toBe(202)
    const statuses = (await flood).map(({ status }) => status)
    expect(statuses.filter((status) => status === 202)).toHaveLength(1)
    expect(statuses.filter((status) => status === 429)).toHaveLength(199)
    expect((await post(other)).status).toBe(202)
  })

  it('is not used up by requests with wrong keys', async () => {
    const key = await start({ ratePerSecond: 0.01, burst: 1 })
    await Promise.all(Array.from({ length: 50 }, () => post('img42_nonsense')))
    expect((await post(key)).status).toBe(202)
  })
})

describe('the limit of jobs in flight', () => {
  it('refuses the upload that would pass it, before its body is read, until a job has ended', async () => {
    const key = await start({ maxInFlight: 2 })
    expect([(await post(key)).status, (await post(key)).status]).toEqual([202, 202])
    const connection = await openRaw(api.port)
    connection.write(head(key))
    const answer = await connection.until('"code"')
    expect(answer).toMatch(/^HTTP\/1\.1 429 /)
    expect(answer).toContain('"code":"too_many_jobs"')
    expect(answer).toContain('RateLimit-Policy: "jobs";q=2;qu="jobs"')
    expect(answer).toContain('Retry-After: 5')
    connection.socket.destroy()

    const [jobId] = api.tables.jobs.keys()
    await api.jobs.bury(jobId!)
    expect((await post(key)).status).toBe(202)
    expect((await post(key)).status).toBe(429)
  })

  it('holds for uploads that begin together', async () => {
    const key = await start({ maxInFlight: 3 })
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await post(key)).status))
    expect(statuses.filter((status) => status === 202)).toHaveLength(3)
    expect(statuses.filter((status) => status === 429)).toHaveLength(17)
    expect(api.tables.jobs.size).toBe(3)
  })

  it('costs no count an upload while there is room', async () => {
    const key = await start({ maxInFlight: 100 })
    for (let i = 0; i < 10; i++) expect((await post(key)).status).toBe(202)
    expect(memory.asked.countInFlight).toBeLessThan(10)
  })

  it('is not counted for requests that begin no job', async () => {
    const key = await start({ maxInFlight: 1 })
    await post(key)
    expect((await api.get('/v1/jobs/img_0', { headers: bearer(key) })).status).toBe(404)
    expect(memory.asked.countInFlight).toBe(1)
  })
})

describe('the limit of uploads at once', () => {
  const held: RawConnection[] = []
  afterEach(() => {
    for (const { socket } of held.splice(0)) socket.destroy()
  })

  it('leaves room for the uploads of others while one tenant’s stand still', async () => {
    const key = await start({})
    const other = memory.makeKey('b')
    const begin = async () => {
      const connection = await openRaw(api.port)
      held.push(connection)
      connection.write(head(key))
      return connection
    }
    await Promise.all(Array.from({ length: MAX_UPLOADS_AT_ONCE }, begin))
    await vi.waitFor(() => expect(memory.asked.findByKey).toBeGreaterThan(0))
    await vi.waitFor(async () => expect((await post(key)).status).toBe(429))
    const refused = await post(key)
    expect(await problemOf(refused)).toMatchObject({ code: 'too_many_uploads', retryable: true })
    expect((await post(other)).status).toBe(202)

    held.pop()!.socket.destroy()
    await vi.waitFor(async () => expect((await post(key)).status).toBe(202))
  })

  it('does not count those whose answers wait for their jobs', async () => {
    const key = await start({})
    const waiting = Array.from({ length: MAX_UPLOADS_AT_ONCE + 5 }, async () => {
      const connection = await openRaw(api.port)
      held.push(connection)
      connection.write(head(key).replace('\r\n\r\n', '\r\nPrefer: wait=60\r\n\r\n'))
      connection.write(png)
    })
    await Promise.all(waiting)
    await vi.waitFor(() => expect(api.tables.jobs.size).toBeGreaterThanOrEqual(MAX_UPLOADS_AT_ONCE))
    await vi.waitFor(async () => expect((await post(key)).status).toBe(202))
  })
})
