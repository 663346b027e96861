import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../apps/api/schemas/operation.ts'
import { OPERATIONS } from '../../apps/api/schemas/operations.ts'
import { makePng } from '../../apps/api/testing/png.ts'
import { openRaw } from '../../apps/api/testing/raw-http.ts'
import { type ApiUnderTest, jsonOf, startApi } from '../../apps/api/testing/start-api.ts'

const TRAVERSALS = [
  '..',
  '../../../etc/passwd',
  '..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f%2e%2e',
  '..%5c..%5cetc',
  '....//',
  '%2fetc%2fpasswd',
  'thumbnail%00.png',
  '..%c0%af..',
]
const INJECTIONS = [
  'a%0d%0aX-Injected:%20yes',
  'a%0aX-Injected:%20yes',
  '%0d%0a%0d%0a<script>',
  'a%E5%98%8D%E5%98%8AX-Injected:%20yes',
]
const HOSTILE = [...TRAVERSALS, ...INJECTIONS]

let api: ApiUnderTest
let jobId: string
beforeAll(async () => {
  api = await startApi()
  jobId = (await jsonOf(await api.post(makePng(), { 'Content-Type': 'image/png' }))).job_id
})
afterAll(() => api.stop())

/** Sent as it stands: an HTTP client would resolve the dots and encode the rest. */
async function send(method: string, target: string, headers: string[] = []): Promise<string> {
  const connection = await openRaw(api.port)
  connection.write(
    `${[`${method} ${target} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`,
  )
  return (await connection.closed()).received
}

function expectRefusal(received: string): void {
  const [head, body] = received.split('\r\n\r\n', 2)
  expect(head).toMatch(/^HTTP\/1\.1 4\d\d /)
  expect(head).toContain('application/problem+json')
  expect(head!.toLowerCase()).not.toContain('\r\nx-injected')
  expect(body).not.toContain('root:')
  expect(body).not.toContain('<script>')
}

const operations: [string, Operation][] = Object.entries(OPERATIONS)
const inPath = operations.flatMap(([id, operation]) =>
  [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [id, name!, operation] as const),
)
const inQuery = operations.flatMap(([id, operation]) =>
  Object.keys(operation.query?.shape ?? {}).map((name) => [id, name, operation] as const),
)

const fill = (path: string, name: string, value: string) =>
  path
    .replace(`{${name}}`, value)
    .replaceAll(/\{(\w+)\}/g, (_, other) => (other === 'id' ? jobId : 'thumbnail'))

describe('a hostile value', () => {
  it.each(inPath)(
    'of %s’s path parameter %s is refused, and its answer holds nothing of it',
    async (_id, name, operation) => {
      for (const value of HOSTILE) {
        expectRefusal(await send(operation.method.toUpperCase(), fill(operation.path, name, value)))
      }
      expect((await api.get(`/v1/jobs/${jobId}`)).status).toBe(200)
    },
  )

  it.each(inQuery)(
    'of %s’s query parameter %s is refused, and its answer holds nothing of it',
    async (_id, name, operation) => {
      for (const value of HOSTILE) {
        const received = await send(
          operation.method.toUpperCase(),
          `${fill(operation.path, '', '')}?${name}=${value}`,
        )
        expect(received.toLowerCase()).not.toContain('\r\nx-injected')
        expect(received).not.toContain('root:')
        // A key of an upload may be any text, and nothing is found under these.
        if (name === 'idempotency_key') expect(received).toMatch(/^HTTP\/1\.1 (200|4\d\d) /)
        else expectRefusal(received)
      }
    },
  )

  it('of a query parameter that nobody knows is refused everywhere', async () => {
    for (const [, { method, path }] of operations) {
      const received = await send(
        method.toUpperCase(),
        `${fill(path, '', '')}?%0d%0aX-Injected:%20yes=1&__proto__=1`,
      )
      expect(received).toMatch(/^HTTP\/1\.1 422 /)
      expectRefusal(received)
    }
  })

  it.each([
    ['Idempotency-Key: ../../etc/passwd,b', 400],
    ['Idempotency-Key: "a\\"', 400],
    ['X-Request-Id: a%0d%0aX-Injected: yes', 202],
    ['X-Request-Id: ../../etc/passwd', 202],
    ['Content-Type: image/png; x="\\../../"', 202],
  ])('of the header %s makes no other header', async (header, status) => {
    const png = makePng()
    const connection = await openRaw(api.port)
    const type = header.startsWith('Content-Type') ? [] : ['Content-Type: image/png']
    connection.write(
      `${['POST /v1/images HTTP/1.1', 'Host: a', 'Connection: close', `Content-Length: ${png.length}`, ...type, header].join('\r\n')}\r\n\r\n`,
    )
    connection.write(png)
    const { received } = await connection.closed()
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(received.toLowerCase()).not.toContain('\r\nx-injected')
    expect(received).not.toContain('passwd')
  })

  it('never reaches the object store’s keys', async () => {
    for (const key of await api.keys()) expect(key).toMatch(/^originals\/img_[0-9a-z]{26}$/)
  })
})

describe('JSON', () => {
  it('is taken by no operation, so that there are no fields to be unknown', async () => {
    for (const [, { body }] of operations) expect(body?.types ?? []).not.toContain('application/json')
    const response = await api.post(JSON.stringify({ tenant: 'other' }), {
      'Content-Type': 'application/json',
    })
    expect(response.status).toBe(415)
  })
})
