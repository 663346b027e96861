import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mintApiKey } from '../../core/api-key.ts'
import { DependencyError } from '../../core/errors.ts'
import { systemRandom } from '../../infra/system-random.ts'
import { createMemoryTenants } from './testing/memory-tenants.ts'
import { makePng } from './testing/png.ts'
import { openRaw } from './testing/raw-http.ts'
import { type ApiUnderTest, jsonOf, startApi } from './testing/start-api.ts'

let api: ApiUnderTest
let memory: ReturnType<typeof createMemoryTenants>
beforeEach(async () => {
  memory = createMemoryTenants()
  api = await startApi({ tenants: memory.tenants })
})
afterEach(() => api.stop())

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })
const png = makePng()

/** All that a client sees of an answer, but for the request's own id and the time. */
async function seen(response: Response) {
  const headers = [...response.headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
  return { status: response.status, headers, body: await response.text() }
}

describe('a key', () => {
  it('opens its tenant’s jobs and nobody else’s', async () => {
    const [mine, theirs] = [memory.makeKey('a'), memory.makeKey('b')]
    const { job_id } = await jsonOf(await api.post(png, { ...bearer(mine), 'Content-Type': 'image/png' }))
    expect((await api.get(`/v1/jobs/${job_id}`, { headers: bearer(mine) })).status).toBe(200)
    const [foreign, unknown] = await Promise.all(
      [job_id, 'img_00000000000000000000000000'].map(async (id) =>
        seen(await api.get(`/v1/jobs/${id}`, { headers: bearer(theirs) })),
      ),
    )
    expect(foreign!.status).toBe(404)
    expect(foreign!.body).toBe(unknown!.body)
  })

  it('works beside the tenant’s other keys', async () => {
    const keys = [memory.makeKey('a'), memory.makeKey('a')]
    const { job_id } = await jsonOf(await api.post(png, { ...bearer(keys[0]!), 'Content-Type': 'image/png' }))
    expect((await api.get(`/v1/jobs/${job_id}`, { headers: bearer(keys[1]!) })).status).toBe(200)
  })

  it('is refused from its revocation on, on a connection that it has used', async () => {
    const key = memory.makeKey('a')
    expect((await api.get('/v1/jobs/img_0', { headers: bearer(key) })).status).toBe(404)
    memory.revoke(key)
    expect((await api.get('/v1/jobs/img_0', { headers: bearer(key) })).status).toBe(401)
  })

  it('is refused in one way, whatever is wrong with it', async () => {
    const revoked = memory.makeKey('a')
    memory.revoke(revoked)
    const good = memory.makeKey('a')
    const wrong: Record<string, Record<string, string>> = {
      missing: {},
      empty: { Authorization: 'Bearer ' },
      unknown: bearer(mintApiKey(systemRandom)),
      revoked: bearer(revoked),
      malformed: bearer('img42_nonsense'),
      mistyped: bearer(`${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`),
      'of another scheme': { Authorization: `Basic ${good}` },
      'with something behind it': { Authorization: `Bearer ${good} ${good}` },
      'far too long': bearer('x'.repeat(8_000)),
    }
    const first = await seen(await api.get('/v1/jobs/img_0'))
    expect(first.status).toBe(401)
    expect(first.headers).toContainEqual(['www-authenticate', 'Bearer'])
    expect(JSON.parse(first.body)).toMatchObject({ code: 'unauthorized', retryable: false })
    for (const [what, headers] of Object.entries(wrong)) {
      expect(await seen(await api.get('/v1/jobs/img_0', { headers })), what).toEqual(first)
      expect((await api.get('/v1/nothing', { headers })).status, what).toBe(401)
    }
  })

  it('is asked for before the body is read, and the answer reaches a client that goes on sending', async () => {
    const response = await api.post(new Uint8Array(900_000), { 'Content-Type': 'image/png' })
    expect(response.status).toBe(401)
    expect(await api.keys()).toEqual([])
  })

  it('is asked for before a client that waits for 100 Continue is told to send', async () => {
    const connection = await openRaw(api.port)
    connection.write(
      'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 900000\r\nExpect: 100-continue\r\n\r\n',
    )
    expect(await connection.until('"code"')).toMatch(/^HTTP\/1\.1 401 /)
    connection.socket.destroy()
  })

  it('is not asked for by health', async () => {
    expect((await api.get('/healthz')).status).toBe(200)
    expect((await api.get('/readyz')).status).toBe(200)
    expect(memory.asked.findByKey).toBe(0)
  })

  it('that cannot be looked up is no wrong one', async () => {
    await api.stop()
    const down = { ...memory.tenants, findByKey: () => Promise.reject(outage()) }
    api = await startApi({ tenants: down })
    const response = await api.get('/v1/jobs/img_0', { headers: bearer(memory.makeKey('a')) })
    expect(response.status).toBe(503)
  })

  it('stands in no line of the log', async () => {
    const key = memory.makeKey('a')
    await api.get('/v1/jobs/img_0', { headers: bearer(key) })
    await api.get(`/v1/jobs/${key}`, { headers: bearer(key) })
    await api.get(`/v1/images/${key}/thumbnail?key=${key}`, { headers: bearer(key) })
    await api.get(`/${key}`)
    await api.stop()
    expect(api.log.length).toBeGreaterThan(0)
    expect(JSON.stringify(api.log)).not.toContain(key.slice(6, 38))
    api = await startApi()
  })
})

describe('one idempotency key', () => {
  it('is another one for each tenant, and answers as if it were the first', async () => {
    const [mine, theirs] = [memory.makeKey('a'), memory.makeKey('b')]
    const post = (key: string) =>
      api.post(png, { ...bearer(key), 'Content-Type': 'image/png', 'Idempotency-Key': 'same' })
    const [first, second] = [await post(mine), await post(theirs)]
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.headers.get('idempotent-replayed')).toBeNull()
    expect([...second.headers.keys()]).toEqual([...first.headers.keys()])
    expect(second.headers.get('location')).not.toBe(first.headers.get('location'))
    expect((await post(mine)).headers.get('idempotent-replayed')).toBe('true')
  })
})

function outage(): DependencyError {
  return new DependencyError('database', 'no answer')
}
