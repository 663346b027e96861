import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiProcess, startApiProcess } from '../../apps/api/testing/api-process.ts'
import { makePng } from '../../apps/api/testing/png.ts'
import type { TenantLimits } from '../../core/ports/tenants.ts'
import { createKey, revokeKey } from '../../db/api-keys.ts'
import { openDatabase } from '../../db/connect.ts'
import type { Database } from '../../db/schema.ts'
import { systemRandom } from '../../infra/system-random.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
let db: Kysely<Database>
let api: ApiProcess
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 1, callMs: 10_000, application: 'img42-test' })
  api = await startApiProcess(database.url, { env: { AUTH: 'keys' } })
})
afterAll(async () => {
  await api.stop()
  await db.destroy()
  await database.drop()
})

const makeKey = (tenant: string, limits: Partial<TenantLimits> = {}) =>
  createKey(db, { tenant, name: '', limits }, systemRandom)

async function post(key: string): Promise<number> {
  const response = await fetch(`${api.url}/v1/images`, {
    method: 'POST',
    body: makePng({ padding: 20_000 }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
  })
  await response.arrayBuffer()
  return response.status
}

describe('an API process on Postgres', () => {
  test('knows of a revocation with the next request, on whatever connection', async () => {
    const { key, keyId } = await makeKey('revoked')
    const get = async () =>
      (await fetch(`${api.url}/v1/jobs/img_0`, { headers: { authorization: `Bearer ${key}` } })).status
    expect(await Promise.all(Array.from({ length: 20 }, get))).toEqual(Array(20).fill(404))
    const meanwhile = Array.from({ length: 20 }, get)
    await revokeKey(db, keyId)
    expect(await Promise.all(Array.from({ length: 20 }, get))).toEqual(Array(20).fill(401))
    await Promise.all(meanwhile)
  })

  test('lets another tenant’s uploads in while one tenant floods it', async () => {
    const [flooding, other] = [
      await makeKey('flood', { ratePerSecond: 0.1, burst: 20 }),
      await makeKey('calm'),
    ]
    let ended = false
    const flood = Promise.all(Array.from({ length: 400 }, () => post(flooding.key))).finally(() => {
      ended = true
    })
    const calm: number[] = []
    do calm.push(await post(other.key))
    while (!ended)
    expect(calm).toEqual(calm.map(() => 202))
    const statuses = await flood
    expect(new Set(statuses)).toEqual(new Set([202, 429]))
    expect(statuses.filter((status) => status === 202).length).toBeLessThanOrEqual(30)
  })

  test('counts jobs in flight in the table, whichever process accepted them', async () => {
    const { key } = await makeKey('in-flight', { maxInFlight: 2 })
    const second = await startApiProcess(database.url, { env: { AUTH: 'keys' } })
    try {
      expect([await post(key), await post(key), await post(key)]).toEqual([202, 202, 429])
      const response = await fetch(`${second.url}/v1/images`, {
        method: 'POST',
        body: makePng(),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
      })
      expect(response.status).toBe(429)
      expect(response.headers.get('ratelimit')).toContain('"jobs";r=0;')
    } finally {
      await second.stop()
    }
  })
})
