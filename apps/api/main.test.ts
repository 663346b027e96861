import { once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { asAdmin, createTestDatabase, type TestDatabase } from '../../test/database.ts'
import { type ApiProcess, startApiProcess } from './testing/api-process.ts'
import { makePng } from './testing/png.ts'
import { openRaw } from './testing/raw-http.ts'
import { jsonOf } from './testing/start-api.ts'

const PNG = makePng({ padding: 200_000 })

let database: TestDatabase
let api: ApiProcess
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const count = (table: string, where = 'true') =>
  asAdmin(database.url, async (client) => {
    const { rows } = await client.query<{ n: number }>(`select count(*)::int n from ${table} where ${where}`)
    return rows[0]!.n
  })

const post = (key: string) =>
  fetch(`${api.url}/v1/images`, {
    method: 'POST',
    body: PNG,
    headers: { 'Content-Type': 'image/png', 'Idempotency-Key': key },
  })

const originals = () =>
  readdir(path.join(api.dataDir, 'objects'), { recursive: true, withFileTypes: true }).then((entries) =>
    entries.filter((entry) => entry.isFile()),
  )

const uploadHead = (key: string) =>
  `POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nIdempotency-Key: ${key}\r\nContent-Length: ${PNG.length}\r\n\r\n`

/** Resolves once the key is reserved. */
async function reserved(key: string): Promise<void> {
  while ((await count('idempotency_records', `key = '${key}'`)) === 0);
}

describe('the API as a process, on Postgres and files', () => {
  beforeAll(async () => {
    api = await startApiProcess(database.url)
  })
  afterAll(() => api.stop())

  it('makes 50 requests of one key at once one job, one outbox row and one object, and fails none', async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, () => post('fifty')))
    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 202 && status !== 409)).toEqual([])
    const places = new Set(responses.flatMap((response) => response.headers.get('location') ?? []))
    expect(places.size).toBe(1)
    expect(await count('jobs')).toBe(1)
    expect(await count('outbox')).toBe(1)
    expect(await originals()).toHaveLength(1)
    const again = await post('fifty')
    expect([...places]).toEqual([again.headers.get('location')])
  })

  it('gives back what it was given, and forgets it when told', async () => {
    const before = (await originals()).length
    const { job_id } = await jsonOf(await post('back'))
    const original = await fetch(`${api.url}/v1/images/${job_id}/original`)
    expect(Buffer.from(await original.arrayBuffer()).equals(PNG)).toBe(true)
    const part = await fetch(`${api.url}/v1/images/${job_id}/original`, { headers: { Range: 'bytes=1-3' } })
    expect([part.status, await part.text()]).toEqual([206, 'PNG'])
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
    expect((await fetch(`${api.url}/v1/images/${job_id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await fetch(`${api.url}/v1/jobs/${job_id}`)).status).toBe(410)
    expect(await originals()).toHaveLength(before)
  })

  it('survives every other end of a connection', async () => {
    for (const text of ['', 'GET', uploadHead('gone'), `${uploadHead('gone-2')}abc`]) {
      const connection = await openRaw(api.port)
      connection.write(text)
      connection.socket.resetAndDestroy()
      await connection.closed()
    }
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200)
  })
})

describe('the API’s process', () => {
  afterEach(() => api.stop())

  it('finishes the upload in flight when it is asked to stop', async () => {
    api = await startApiProcess(database.url)
    const connection = await openRaw(api.port)
    connection.write(uploadHead('drain'))
    await reserved('drain')
    const stopped = api.stop()
    connection.write(PNG)
    expect((await connection.closed()).received).toContain('HTTP/1.1 202')
    expect(await stopped).toBe(0)
    expect(await count('idempotency_records', "key = 'drain' and job_id is not null")).toBe(1)
  })

  it('frees a dead process’s key when its reservation runs out', async () => {
    const env = { RESERVATION_MS: '1000' }
    api = await startApiProcess(database.url, { env })
    const { dataDir, child } = api
    const connection = await openRaw(api.port)
    connection.write(uploadHead('dead'))
    await reserved('dead')
    child.kill('SIGKILL')
    await once(child, 'exit')
    api = await startApiProcess(database.url, { env, dataDir })
    let response = await post('dead')
    expect([202, 409]).toContain(response.status)
    while (response.status === 409) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(response.headers.get('retry-after'))))
      response = await post('dead')
    }
    expect(response.status).toBe(202)
    await rm(dataDir, { recursive: true, force: true })
  })
})
