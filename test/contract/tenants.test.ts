import { beforeAll, describe, expect, test } from 'vitest'
import { makePng } from '../../apps/api/testing/png.ts'
import { type ContractService, contractService } from './service.ts'

interface Described {
  paths: Record<string, Record<string, unknown>>
}

let service: ContractService
let operations: { method: string; path: string }[]
let jobId: string
beforeAll(async () => {
  service = await contractService()
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Described
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) =>
      METHODS.includes(method) ? [{ method: method.toUpperCase(), path }] : [],
    ),
  )
  const response = await post(service.key, 'first')
  expect(response.status).toBe(202)
  jobId = ((await response.json()) as { job_id: string }).job_id
})

const METHODS = ['get', 'post', 'delete', 'put', 'patch']
const OF_EACH_ANSWER = ['x-request-id', 'date', 'ratelimit', 'connection', 'keep-alive']
const own = crypto.randomUUID()

const post = (key: string, idempotencyKey: string, image = makePng()) =>
  fetch(`${service.url}/v1/images`, {
    method: 'POST',
    body: image,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'image/png',
      'idempotency-key': `${own}-${idempotencyKey}`,
    },
  })

const send = (method: string, path: string, headers: Record<string, string>) =>
  fetch(service.url + path, { method, headers })

/** All that a client can tell answers apart by. */
async function seen(response: Response) {
  const headers = [...response.headers].filter(([name]) => !OF_EACH_ANSWER.includes(name))
  return { status: response.status, headers, body: await response.text() }
}

const fill = (path: string, id: string) => path.replace('{id}', id).replaceAll(/\{\w+\}/g, 'original')

describe('every route of a job', () => {
  test('answers another tenant as if there were no such job, byte by byte', async () => {
    const ofJobs = operations.filter(({ path }) => path.includes('{id}'))
    expect(ofJobs.length).toBeGreaterThanOrEqual(3)
    const authorization = `Bearer ${service.otherKey}`
    for (const { method, path } of ofJobs) {
      const [foreign, unknown, malformed] = await Promise.all(
        [jobId, 'img_00000000000000000000000000', 'no-job'].map(async (id) =>
          seen(await send(method, fill(path, id), { authorization })),
        ),
      )
      const where = `${method} ${path}`
      expect(foreign!.status, where).toBe(404)
      expect(JSON.parse(foreign!.body), where).toMatchObject({ code: 'no_such_job' })
      expect(foreign, where).toEqual(unknown)
      expect(malformed, where).toEqual(unknown)
    }
  })

  test('leaves the job as it was', async () => {
    const response = await send('GET', `/v1/jobs/${jobId}`, { authorization: `Bearer ${service.key}` })
    expect(response.status).toBe(200)
  })
})

describe('every route but the open ones', () => {
  test('asks for a key, and answers none, an unknown and a malformed one alike', async () => {
    const closed = operations.filter(({ path }) => path.startsWith('/v1/'))
    expect(closed.length).toBeGreaterThanOrEqual(5)
    const first = await seen(await send('GET', `/v1/jobs/${jobId}`, {}))
    expect(first.status).toBe(401)
    expect(first.headers).toContainEqual(['www-authenticate', 'Bearer'])
    expect(JSON.parse(first.body)).toMatchObject({ code: 'unauthorized', retryable: false })
    const last = service.key.at(-1) === '0' ? '1' : '0'
    const wrong = ['', 'Bearer nonsense', `Bearer ${service.key.slice(0, -1)}${last}`, `Basic ${service.key}`]
    for (const { method, path } of closed) {
      for (const authorization of wrong) {
        const headers: Record<string, string> = authorization ? { authorization } : {}
        expect(await seen(await send(method, fill(path, jobId), headers)), `${method} ${path}`).toEqual(first)
      }
    }
  })

  test('while those are answered without one', async () => {
    for (const { method, path } of operations.filter(({ path }) => !path.startsWith('/v1/'))) {
      expect((await send(method, path, {})).status, `${method} ${path}`).toBe(200)
    }
  })
})

describe('every answer to a tenant', () => {
  test('says how much of its rate is left (what is over it: apps/api/rate-limit.test.ts)', async () => {
    for (const { method, path } of operations.filter(({ path }) => path.includes('{id}'))) {
      const headers = { authorization: `Bearer ${service.otherKey}` }
      const response = await send(method, fill(path, 'img_0'), headers)
      expect(response.headers.get('ratelimit-policy')).toMatch(/^"requests";q=\d+;w=\d+$/)
      expect(response.headers.get('ratelimit')).toMatch(/^"requests";r=\d+;t=\d+$/)
    }
  })
})

describe('the same idempotency key', () => {
  test('is unrelated for another tenant, and nothing in the answer tells that it is known', async () => {
    const mine = await post(service.key, 'shared')
    const theirs = await post(service.otherKey, 'shared', makePng({ colour: 9 }))
    const [a, b] = [await mine.json(), await theirs.json()] as Record<string, unknown>[]
    expect([mine.status, theirs.status]).toEqual([202, 202])
    expect([...theirs.headers.keys()]).toEqual([...mine.headers.keys()])
    expect(Object.keys(b!)).toEqual(Object.keys(a!))
    expect(b!.job_id).not.toBe(a!.job_id)
  })
})
