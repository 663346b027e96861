import { afterEach, describe, expect, it, vi } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import { makePng } from './testing/png.ts'
import { openRaw } from './testing/raw-http.ts'
import { type ApiUnderTest, jsonOf, type Overrides, startApi } from './testing/start-api.ts'

let api: ApiUnderTest
const start = async (overrides?: Overrides) => {
  api = await startApi(overrides)
}
afterEach(() => api.stop())

describe('the API', () => {
  it.each(['/', '/v1', '/v1/image', '/v1/job', '/V1/images', '/v1/images/a/b/c'])(
    'answers %s with a 404 problem',
    async (path) => {
      await start()
      const response = await api.get(path)
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await jsonOf(response)).toEqual({
        type: 'urn:img42:problem:not_found',
        title: 'Not Found',
        status: 404,
        detail: 'there is nothing here',
        code: 'not_found',
        retryable: false,
      })
    },
  )

  it.each([
    ['GET', '/v1/images', 'POST'],
    ['GET', '/v1/images/img_0', 'DELETE'],
    ['POST', '/v1/images/img_0/thumbnail', 'GET, HEAD'],
    ['PUT', '/v1/jobs/img_0', 'GET, HEAD, DELETE'],
    ['OPTIONS', '/v1/jobs/img_0', 'GET, HEAD, DELETE'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['DELETE', '/readyz', 'GET, HEAD'],
  ])('answers %s %s with 405 and what is allowed', async (method, path, allowed) => {
    await start()
    const response = await api.get(path, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allowed)
    expect((await jsonOf(response)).code).toBe('method_not_allowed')
  })

  it.each(['/v1/jobs/%E0%A4%A', '/v1/images/%/thumbnail', '/v1/images/a/%ff'])(
    'answers the badly encoded %s with 400',
    async (path) => {
      await start()
      const response = await api.get(path)
      expect(response.status).toBe(400)
      expect((await jsonOf(response)).code).toBe('malformed_url')
    },
  )

  it('returns the request’s id, a sane one of the client’s own, and logs by it', async () => {
    await start()
    const made = await api.get('/v1/jobs/img_0')
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f]{24}$/)
    const given = await api.get('/v1/jobs/img_0', { headers: { 'X-Request-Id': 'abc-1' } })
    expect(given.headers.get('x-request-id')).toBe('abc-1')
    const insane = await api.get('/v1/jobs/img_0', { headers: { 'X-Request-Id': 'a b {}' } })
    expect(insane.headers.get('x-request-id')).toMatch(/^[0-9a-f]{24}$/)
    await vi.waitFor(() =>
      expect(api.log).toContainEqual(
        expect.objectContaining({
          method: 'GET',
          route: '/v1/jobs/:id',
          status: 404,
          ms: expect.any(Number),
          request_id: 'abc-1',
          job_id: 'img_0',
        }),
      ),
    )
  })

  it('lets a body that nobody wanted pass before it closes', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write('POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n')
    connection.write(Buffer.alloc(9_000_000))
    const { received, reset } = await connection.closed()
    expect(received).toMatch(/^HTTP\/1\.1 404/)
    expect(reset).toBe(false)
  })

  it.each([
    ['no HTTP', 'nonsense\r\n\r\n', 400, 'malformed_request'],
    [
      'two lengths of one body',
      'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'headers without end',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['a target that is no URL', 'GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_url'],
    [
      'an unknown expectation',
      'GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
      417,
      'expectation_failed',
    ],
  ])('answers %s with a problem', async (_what, request, status, code) => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(request)
    const received = await connection.until(code)
    expect(received).toMatch(
      new RegExp(`^HTTP/1.1 ${status} .*application/problem\\+json.*"code":"${code}"`, 's'),
    )
    connection.socket.destroy()
  })

  it('tells a client of its broken chunks, and leaves nothing of the upload', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(
      'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\nIdempotency-Key: k\r\n\r\n',
    )
    connection.write(Buffer.from('4\r\n\x89PNG\r\n', 'latin1'))
    await vi.waitFor(() => expect(api.tables.idempotencyRecords.size).toBe(1))
    connection.write('nonsense\r\n')
    connection.write(Buffer.alloc(300_000))
    expect((await connection.closed()).received).toMatch(/^HTTP\/1\.1 400 .*malformed_request/s)
    await vi.waitFor(() => expect(api.tables.idempotencyRecords.size).toBe(0))
    await api.inFlight.settled()
    expect(await api.keys()).toEqual([])
  })

  it('cuts a connection that stands still in the middle of an answer', async () => {
    await start({ silenceMs: 200 })
    const connection = await openRaw(api.port)
    connection.write('GET /v1/jobs/img_0 HTTP/1.1\r\nHost: a\r\n')
    await connection.closed()
  })
})

describe('health', () => {
  it('is alive as long as it answers, whatever its dependencies do', async () => {
    await start({
      failing: { jobs: { ping: () => Promise.reject(new DependencyError('database', 'down')) } },
    })
    const response = await api.get('/healthz')
    expect([response.status, await response.json()]).toEqual([200, { status: 'alive' }])
  })

  it('is ready when database and store answer', async () => {
    await start()
    const response = await api.get('/readyz')
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready' }])
  })

  it.each([
    ['database', { jobs: { ping: () => Promise.reject(new Error('secret')) } }],
    ['object_store', { objectStore: { list: () => Promise.reject(new Error('secret')) } }],
  ])('is not ready without its %s, and says so', async (name, failing) => {
    await start({ failing })
    const response = await api.get('/readyz')
    expect(response.status).toBe(503)
    expect(await jsonOf(response)).toMatchObject({ code: 'not_ready', detail: `the ${name} does not answer` })
  })

  it('asks its dependencies once for many probes', async () => {
    const ping = vi.fn(async () => {})
    await start({ failing: { jobs: { ping } } })
    await Promise.all(Array.from({ length: 20 }, () => api.get('/readyz')))
    expect(ping).toHaveBeenCalledTimes(1)
  })

  it('is not ready while it drains', async () => {
    await start()
    api.state.draining = true
    const response = await api.get('/readyz')
    expect(response.status).toBe(503)
    expect((await jsonOf(response)).detail).toBe('the process is stopping')
  })
})

describe('draining', () => {
  const png = makePng()
  const head = `POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nIdempotency-Key: k\r\nContent-Length: ${png.length}\r\n\r\n`

  it('takes no new connection and finishes the request in flight', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(head)
    await vi.waitFor(() => expect(api.tables.idempotencyRecords.size).toBe(1))
    const drained = api.drain(30_000)
    await expect(openRaw(api.port)).rejects.toThrow(/ECONNREFUSED/)
    connection.write(png)
    expect((await connection.closed()).received).toContain('HTTP/1.1 202')
    await drained
    expect(api.tables.jobs.size).toBe(1)
  })

  it('closes idle connections', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
    await connection.until('alive')
    await api.drain(30_000)
    await connection.closed()
  })

  it('cuts what does not end in time, and cleans up after it', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(head)
    await vi.waitFor(() => expect(api.tables.idempotencyRecords.size).toBe(1))
    await api.drain(50)
    await api.inFlight.settled()
    expect(api.tables.idempotencyRecords.size).toBe(0)
    expect(await api.keys()).toEqual([])
    await connection.closed()
  })
})
