import { afterEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_PRESET } from '../../core/preset.ts'
import { BUILT_IN_PRESETS, type Presets } from '../../core/preset-file.ts'
import { createMemoryJobs } from '../../test/simulation/memory/memory-jobs.ts'
import { createTables } from '../../test/simulation/memory/tables.ts'
import { makePng } from './testing/png.ts'
import { openRaw } from './testing/raw-http.ts'
import { type ApiUnderTest, jsonOf, problemOf, startApi } from './testing/start-api.ts'

const PNG = makePng()

let api: ApiUnderTest
const start = async () => {
  api = await startApi()
}
afterEach(() => api.stop())

describe('an Idempotency-Key', () => {
  const keyed = (key: string, type = 'image/png') => ({ 'Content-Type': type, 'Idempotency-Key': key })

  it('may have to be there: 400 without one, with a link to what it is for', async () => {
    api = await startApi({ idempotencyRequired: true })
    const refused = await api.post(PNG)
    expect(refused.status).toBe(400)
    expect(refused.headers.get('link')).toContain('</docs')
    expect(await problemOf(refused)).toMatchObject({ code: 'idempotency_key_missing' })
    expect((await api.post(PNG, keyed('k'))).status).toBe(202)
  })

  it('gives the same request the same job, as it stands now', async () => {
    await start()
    const first = await api.post(PNG, keyed('"k"'))
    const { job_id } = await jsonOf(first)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    await api.jobs.claim({ jobId: job_id, owner: 'w', leaseMs: 60_000, budget: 5 })
    const again = await api.post(PNG, keyed('k'))
    expect(again.status).toBe(202)
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('retry-after')).toBe('1')
    expect(await jsonOf(again)).toMatchObject({ job_id, status: 'RUNNING' })
    expect(api.tables.jobs.size).toBe(1)
    expect(await api.keys()).toHaveLength(1)
  })

  it.each([
    ['other bytes', () => api.post(makePng({ colour: 9 }), keyed('k'))],
    ['another type', () => api.post(PNG, keyed('k', 'image/jpeg'))],
    ['another strictness', () => api.post(PNG, keyed('k'), '?strict=true')],
  ])('refuses %s under a known key with 422, and keeps the first', async (_what, send) => {
    await start()
    const first = await api.post(PNG, keyed('k'))
    const response = await send()
    expect(response.status).toBe(422)
    expect((await problemOf(response)).code).toBe('idempotency_key_reused')
    const again = await api.post(PNG, keyed('k'))
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
  })

  it('tells presets apart by their names, whatever became of what they say', async () => {
    const named = (width: number): Presets =>
      new Map([
        ...BUILT_IN_PRESETS,
        ['card', { ...DEFAULT_PRESET, outputs: [{ ...DEFAULT_PRESET.outputs[0]!, width }] }],
      ])
    const jobs = createMemoryJobs(createTables(Date.now))
    api = await startApi({ jobs, presets: named(400) })
    const first = await jsonOf(await api.post(PNG, keyed('k'), '?preset=card'))
    expect((await api.post(PNG, keyed('k'))).status).toBe(422)
    await api.stop()
    api = await startApi({ jobs, presets: named(500) })
    expect(await jsonOf(await api.post(PNG, keyed('k'), '?preset=card'))).toMatchObject({
      job_id: first.job_id,
    })
    expect((await jobs.find(first.job_id))?.options.plan.outputs[0]?.width).toBe(400)
  })

  it('takes the defaults spelt out for the defaults', async () => {
    await start()
    const { job_id } = await jsonOf(await api.post(PNG, keyed('k')))
    const again = await api.post(PNG, keyed('k'), '?preset=thumbnail&strict=false')
    expect(await jsonOf(again)).toMatchObject({ job_id })
  })

  it('answers 409 with Retry-After while the first request uploads', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(
      `POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: ${PNG.length}\r\nIdempotency-Key: k\r\n\r\n`,
    )
    await vi.waitFor(() => expect(api.tables.idempotencyRecords.size).toBe(1))
    const second = await api.post(PNG, keyed('k'))
    expect(second.status).toBe(409)
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await problemOf(second)).toMatchObject({ code: 'upload_in_progress', retryable: true })
    connection.write(PNG)
    expect(await connection.until('QUEUED')).toContain('HTTP/1.1 202')
    connection.socket.destroy()
  })

  it('is free again after a refusal', async () => {
    await start()
    expect((await api.post(Buffer.from('no image at all'), keyed('k'))).status).toBe(415)
    expect((await api.post(PNG, keyed('k'))).status).toBe(202)
  })

  it('is refused with 400 when the header is sent twice', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(
      `POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Length: ${PNG.length}\r\nIdempotency-Key: a\r\nIdempotency-Key: a\r\n\r\n`,
    )
    connection.write(PNG)
    expect(await connection.until('malformed')).toMatch(/^HTTP\/1\.1 400 .*idempotency_key_malformed/s)
    connection.socket.destroy()
  })

  it('makes 50 requests at once one job', async () => {
    await start()
    const responses = await Promise.all(Array.from({ length: 50 }, () => api.post(PNG, keyed('k'))))
    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 202 && status !== 409)).toEqual([])
    expect(new Set(responses.flatMap((response) => response.headers.get('location') ?? [])).size).toBe(1)
    expect(api.tables.jobs.size).toBe(1)
    expect(api.tables.outbox.size).toBe(1)
    expect(await api.keys()).toHaveLength(1)
  })
})
