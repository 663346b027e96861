import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryTenants } from './testing/memory-tenants.ts'
import { makePng } from './testing/png.ts'
import { type ApiUnderTest, startApi } from './testing/start-api.ts'

const ORIGIN = 'https://app.example.com'
const memory = createMemoryTenants()
let api: ApiUnderTest
const start = async (corsOrigins: string[]) => {
  api = await startApi({ corsOrigins, tenants: memory.tenants })
}
afterEach(() => api.stop())

const preflight = (origin: string) =>
  api.get('/v1/images', {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key',
    },
  })

const about = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control')))

describe('a page of another origin', () => {
  it('is told nothing while no origins are named', async () => {
    await start([])
    const response = await api.get('/v1/jobs/img_0', { headers: { Origin: ORIGIN } })
    expect(about(response)).toEqual({})
    expect(response.headers.get('vary')).toBeNull()
    expect(about(await preflight(ORIGIN))).toEqual({})
  })

  it('that is named may ask, without a key, what it may send', async () => {
    await start(['http://localhost:3000', ORIGIN])
    const response = await preflight(ORIGIN)
    expect(response.status).toBe(204)
    expect(about(response)).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
      'access-control-max-age': '7200',
    })
    const headers = response.headers.get('access-control-allow-headers')!.toLowerCase().split(', ')
    expect(headers).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key', 'prefer']),
    )
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('that is named may read what an answer says in headers, and problems as well', async () => {
    await start([ORIGIN])
    const headers = {
      Origin: ORIGIN,
      Authorization: `Bearer ${memory.makeKey('a')}`,
      'Content-Type': 'image/png',
    }
    const accepted = await api.post(makePng(), headers)
    const refused = await api.get('/v1/jobs/img_0', { headers: { Origin: ORIGIN } })
    expect([accepted.status, refused.status]).toEqual([202, 401])
    for (const response of [accepted, refused]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
      expect(response.headers.get('vary')).toBe('Origin')
      const exposed = response.headers.get('access-control-expose-headers')!.split(', ')
      expect(exposed).toEqual(
        expect.arrayContaining(['Location', 'Retry-After', 'Idempotent-Replayed', 'RateLimit']),
      )
    }
  })

  it.each([`${ORIGIN}.evil.example`, 'http://app.example.com', 'https://APP.example.com', 'null'])(
    'that is %s is not the one that is named',
    async (origin) => {
      await start([ORIGIN])
      const response = await preflight(origin)
      expect(response.status).toBe(401)
      expect(about(response)).toEqual({})
      expect(response.headers.get('vary')).toBe('Origin')
    },
  )
})
