import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { DocumentedOperation, OpenapiDocument } from '../../apps/api/openapi.ts'
import { OPERATIONS } from '../../apps/api/schemas/operations.ts'
import { ContractBroken, checkAnswer, checkedFetch } from './checked-fetch.ts'
import { openapiFaults } from './openapi-faults.ts'
import { contractService } from './service.ts'

const { url, key } = await contractService()
const authorized = { headers: { Authorization: `Bearer ${key}` } }
const document = (await (await checkedFetch(`${url}/openapi.json`)).json()) as OpenapiDocument

/** A path with every parameter filled in, of nothing that exists. */
const filled = (path: string) =>
  path.replace('{id}', 'img_00000000000000000000000000').replace(/\{\w+\}/g, 'nothing')

const all = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]): [string, string, DocumentedOperation] => [
    method.toUpperCase(),
    path,
    operation,
  ]),
)

describe('openapi.json', () => {
  test('is well-formed OpenAPI 3.1', () => {
    expect(openapiFaults(document)).toEqual([])
  })

  test('is found faulty when it is', () => {
    const broken = structuredClone(document) as unknown as {
      paths: Record<string, Record<string, DocumentedOperation>>
    }
    const operation = broken.paths['/v1/jobs/{id}']!.get!
    operation.parameters = []
    operation.operationId = 'postImage'
    operation.responses['200'] = { $ref: '#/components/responses/Nothing' }
    expect(openapiFaults(broken as never)).toEqual([
      '/v1/jobs/{id} get: {id} is no parameter',
      '/v1/jobs/{id} get: another operation is called postImage',
      '#/components/responses/Nothing leads nowhere',
    ])
  })

  test.each(all)('%s %s is served', async (method, path) => {
    const response = await checkedFetch(url + filled(path), { ...authorized, method })
    // Neither a path that leads nowhere nor a method that is not allowed.
    if (method !== 'HEAD' && response.headers.get('content-type') === 'application/problem+json') {
      expect(((await response.json()) as { code: string }).code).not.toMatch(/not_found|method_not_allowed/)
    }
    expect(response.status).not.toBe(405)
  })

  test('names every method of every path', async () => {
    for (const path of new Set(all.map(([, path]) => path))) {
      const response = await checkedFetch(url + filled(path), { ...authorized, method: 'PUT' })
      expect(response.status, path).toBe(405)
      const allowed = response.headers.get('allow')!.split(', ').sort()
      expect(allowed, path).toEqual(all.flatMap(([method, other]) => (other === path ? [method] : [])).sort())
    }
  })

  test('says which requests need a key, and all of those do', async () => {
    for (const [method, path, { security }] of all) {
      const response = await checkedFetch(url + filled(path), { method })
      if (security) expect(response.status, path).toBe(200)
      else expect(response.status, path).toBe(401)
    }
  })

  test('is not sent again to whom has it', async () => {
    const first = await checkedFetch(`${url}/openapi.json`)
    const headers = { 'If-None-Match': first.headers.get('etag')! }
    expect((await checkedFetch(`${url}/openapi.json`, { headers })).status).toBe(304)
  })
})

test('/docs needs nothing but itself: no script, nothing loaded, and a policy that would stop both', async () => {
  const response = await checkedFetch(`${url}/docs`)
  const page = await response.text()
  expect(page).not.toMatch(/<script|<link|<img|<iframe|\bsrc=|url\(|@import|\bon\w+=|style="/i)
  for (const [, target] of page.matchAll(/href="([^"]*)"/g)) expect(target).toMatch(/^#|^\/openapi\.json$/)
  const style = /<style>(.*?)<\/style>/s.exec(page)![1]!
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = response.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain(`style-src 'sha256-${hash}'`)
  // Every link within the page has its target.
  const ids = new Set([...page.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id))
  for (const [, id] of page.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(id)
  for (const { path, summary } of Object.values(OPERATIONS)) {
    expect(page).toContain(path)
    expect(page).toContain(summary)
  }
})

describe('an answer breaks the contract', () => {
  const headers = { 'x-request-id': 'a', 'content-type': 'application/json', 'cache-control': 'no-store' }
  const answer = { status: 200, headers: new Headers(headers), body: Buffer.from('{"status":"alive"}') }
  const check = (changes: Partial<typeof answer>) => () =>
    checkAnswer('GET', '/healthz', { ...answer, ...changes })
  const withHeaders = (changes: Record<string, string>) => ({
    headers: new Headers({ ...headers, ...changes }),
  })

  test('only then', () => {
    expect(check({})).not.toThrow()
  })
  test.each<[string, Partial<typeof answer>, string]>([
    ['with a status that is not declared', { status: 201 }, 'status'],
    ['with a header that is not declared', withHeaders({ 'x-powered-by': 'us' }), 'x-powered-by'],
    ['with a wrong header', withHeaders({ 'cache-control': 'public' }), 'Cache-Control'],
    ['with another type', withHeaders({ 'content-type': 'text/html' }), 'Content-Type'],
    ['with a body of another shape', { body: Buffer.from('{"status":"dead"}') }, 'status'],
    ['with a field too many', { body: Buffer.from('{"status":"alive","more":1}') }, 'more'],
    ['with a body that is no JSON', { body: Buffer.from('alive') }, 'no JSON'],
  ])('%s', (_how, changes, named) => {
    expect(check(changes)).toThrow(ContractBroken)
    expect(check(changes)).toThrow(named)
  })
})
