import { afterEach, describe, expect, it, vi } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import { DEFAULT_PRESET } from '../../core/preset.ts'
import { BUILT_IN_PRESETS, type Presets } from '../../core/preset-file.ts'
import { makePng } from './testing/png.ts'
import { openRaw } from './testing/raw-http.ts'
import {
  type ApiUnderTest,
  type Body,
  jsonOf,
  type Overrides,
  problemOf,
  startApi,
} from './testing/start-api.ts'

const PNG = makePng()
const PRESETS: Presets = new Map([
  ...BUILT_IN_PRESETS,
  [
    'product',
    { ...DEFAULT_PRESET, outputs: [{ ...DEFAULT_PRESET.outputs[0]!, name: 'card', format: 'auto' }] },
  ],
])
const IMAGE = { 'Content-Type': 'image/png' }

let api: ApiUnderTest
const start = async (overrides?: Overrides) => {
  api = await startApi(overrides)
  return api
}
afterEach(() => api.stop())

/** A body whose length is not announced. */
function chunked(...chunks: Uint8Array[]): Body {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

const postChunked = (body: Body, headers: Record<string, string>) =>
  fetch(`${api.url}/v1/images`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit)

describe('POST /v1/images', () => {
  it('answers 202 with the job’s place, when to look, and a job that is QUEUED', async () => {
    await start()
    const response = await api.post(PNG, IMAGE)
    expect(response.status).toBe(202)
    const job = await jsonOf(response)
    expect(job).toMatchObject({ status: 'QUEUED', done: false, warnings: [] })
    expect(job.job_id).toMatch(/^img_[0-9a-z]{26}$/)
    expect(response.headers.get('location')).toBe(`/v1/jobs/${job.job_id}`)
    expect(job.url).toBe(`/v1/jobs/${job.job_id}`)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(api.accepted).toEqual([job.job_id])
    expect(api.tables.outbox.has(job.job_id)).toBe(true)
  })

  it('stores the bytes as they came, and records their type, size, hash and dimensions', async () => {
    await start()
    const png = makePng({ width: 30, height: 20, padding: 300_000 })
    const { job_id } = await jsonOf(await api.post(png, IMAGE))
    expect(await api.keys('originals/')).toEqual([`originals/${job_id}`])
    const row = api.tables.jobs.get(job_id)
    expect(row?.original).toMatchObject({
      contentType: 'image/png',
      bytes: png.length,
      width: 30,
      height: 20,
    })
    const back = await api.get(`/v1/images/${job_id}/original`)
    expect(Buffer.from(await back.arrayBuffer()).equals(png)).toBe(true)
  })

  it('fails a job that was not begun within its expires_in, and does no work on it', async () => {
    await start()
    const response = await fetch(`${api.url}/v1/images?expires_in=1`, {
      method: 'POST',
      body: PNG,
      headers: IMAGE,
    })
    const { job_id } = await jsonOf(response)
    const row = api.tables.jobs.get(job_id)!
    expect(row.deadlineAt - row.createdAt).toBe(1_000)
    // A second later.
    for (const time of ['createdAt', 'runAt', 'deadlineAt'] as const) row[time] -= 1_001
    expect(await api.jobs.claim({ jobId: job_id, owner: 'w', leaseMs: 60_000, budget: 5 })).toEqual({
      kind: 'finished',
    })
    expect(await jsonOf(await api.get(`/v1/jobs/${job_id}`))).toMatchObject({
      ...{ status: 'FAILED', done: true, attempts: 0 },
      error: { code: 'expired', retryable: true },
    })
  })

  it('refuses an expires_in beyond what this service lets a job wait', async () => {
    await start({ timing: { deadlineMs: 60_000 } })
    const response = await fetch(`${api.url}/v1/images?expires_in=61`, {
      method: 'POST',
      body: PNG,
      headers: IMAGE,
    })
    expect(response.status).toBe(422)
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_parameter' })
  })

  it('takes a body whose length is not announced', async () => {
    await start()
    const response = await postChunked(chunked(PNG.subarray(0, 10), PNG.subarray(10)), IMAGE)
    expect(response.status).toBe(202)
  })

  it.each(['application/octet-stream', undefined])(
    'decides by the bytes when the type is %s',
    async (type) => {
      await start()
      const connection = await openRaw(api.port)
      const header = type ? `Content-Type: ${type}\r\n` : ''
      connection.write(
        `POST /v1/images HTTP/1.1\r\nHost: a\r\n${header}Content-Length: ${PNG.length}\r\n\r\n`,
      )
      connection.write(PNG)
      expect(await connection.until('QUEUED')).toMatch(/^HTTP\/1\.1 202 .*"warnings":\[\]/s)
      connection.socket.destroy()
    },
  )

  it('accepts an image under another image’s type, and notes it', async () => {
    await start()
    const response = await api.post(PNG, { 'Content-Type': 'image/jpeg' })
    expect(response.status).toBe(202)
    const { warnings, job_id } = await jsonOf(response)
    expect(warnings).toEqual([
      { code: 'type_mismatch', message: 'the Content-Type said image/jpeg; the bytes are image/png' },
    ])
    expect((await jsonOf(await api.get(`/v1/jobs/${job_id}`))).warnings).toEqual(warnings)
  })

  it('makes a job of the preset and strictness that the query names, and shows them', async () => {
    await start({ presets: PRESETS })
    const plain = await jsonOf(await api.post(PNG, IMAGE))
    expect(api.tables.jobs.get(plain.job_id)?.options).toEqual(DEFAULT_OPTIONS)
    const { job_id } = await jsonOf(await api.post(PNG, IMAGE, '?preset=product&strict=true'))
    const options = { preset: 'product', plan: PRESETS.get('product'), strict: true }
    expect(api.tables.jobs.get(job_id)?.options).toEqual(options)
    expect(await jsonOf(await api.get(`/v1/jobs/${job_id}`))).toMatchObject({
      preset: 'product',
      strict: true,
    })
  })

  it.each([
    ['?preset=thumbnial', 'unknown_preset', 'there is no preset "thumbnial"; there are thumbnail, product'],
    ['?preset=', 'invalid_parameter', expect.stringContaining('preset: ')],
    [
      '?preset=constructor',
      'unknown_preset',
      'there is no preset "constructor"; there are thumbnail, product',
    ],
    [
      '?Preset=product',
      'invalid_parameter',
      expect.stringContaining('"Preset" is unknown here (preset, strict, '),
    ],
    [
      '?preset=product&width=3',
      'invalid_parameter',
      expect.stringContaining('"width" is unknown here (preset, strict, '),
    ],
    ['?strict=1', 'invalid_parameter', expect.stringContaining('strict: ')],
    ['?strict', 'invalid_parameter', expect.stringContaining('strict: ')],
    [
      '?preset=product&preset=product',
      'invalid_parameter',
      expect.stringContaining('"preset" is given twice'),
    ],
    ['?preset=%ff', 'invalid_parameter', expect.stringContaining('preset: ')],
  ])('refuses %s with 422, naming it and what there is, and keeps nothing', async (query, code, detail) => {
    await start({ presets: PRESETS })
    const response = await api.post(PNG, IMAGE, query)
    expect(response.status).toBe(422)
    expect(await problemOf(response)).toMatchObject({ code, detail })
    expect(api.tables.jobs.size).toBe(0)
    expect(await api.keys()).toEqual([])
  })

  it('says whether the file is broken or the service does not take its like', async () => {
    await start({ limits: { maxPixels: 100 } })
    const broken = await problemOf(await api.post(PNG.subarray(0, 40), IMAGE))
    expect(broken).toMatchObject({ status: 422, fault: 'file' })
    const large = await problemOf(await api.post(makePng({ width: 20, height: 20 }), IMAGE))
    expect(large).toMatchObject({ code: 'too_many_pixels', fault: 'service' })
    const pdf = await problemOf(await api.post('%PDF-1.7 and more of it', IMAGE))
    expect(pdf).toMatchObject({ code: 'unsupported_type', fault: 'service' })
    expect(await problemOf(await api.post(PNG, { 'Content-Type': 'text/html' }))).not.toHaveProperty('fault')
  })

  it('refuses a type that is no image’s with 415, whatever the bytes', async () => {
    await start()
    const response = await api.post(PNG, { 'Content-Type': 'text/plain' })
    expect(response.status).toBe(415)
    expect((await problemOf(response)).detail).toContain('text/plain')
  })

  it('refuses bytes that are no supported image with 415, saying what they are', async () => {
    await start()
    const response = await api.post(Buffer.from('%PDF-1.7\n%...'), {
      'Content-Type': 'application/octet-stream',
    })
    expect(response.status).toBe(415)
    expect((await problemOf(response)).detail).toMatch(/PDF/)
    expect(await api.keys()).toEqual([])
    expect(api.tables.jobs.size).toBe(0)
  })

  it('tells a form to send the bytes themselves', async () => {
    await start()
    const form = new FormData()
    form.set('file', new Blob([PNG]))
    const response = await api.post(form)
    expect(response.status).toBe(415)
    expect((await problemOf(response)).detail).toContain('--data-binary @file')
  })

  it.each([
    ['announced', () => api.post(null)],
    ['not announced', () => postChunked(chunked(), IMAGE)],
  ])('refuses an empty body with 400, its length %s', async (_how, send) => {
    await start()
    const response = await send()
    expect(response.status).toBe(400)
    expect((await problemOf(response)).code).toBe('empty_body')
  })

  it.each([
    ['pixels over the limit', makePng({ width: 2_000, height: 2_000 }), 'too_many_pixels'],
    ['a file that is cut off', PNG.subarray(0, 40), 'truncated'],
    ['a broken header', Buffer.concat([PNG.subarray(0, 8), Buffer.alloc(600, 1)]), 'corrupt'],
  ])('refuses %s with 422', async (_what, body, code) => {
    await start()
    const response = await api.post(body, IMAGE)
    expect(response.status).toBe(422)
    expect((await problemOf(response)).code).toBe(code)
    expect(await api.keys()).toEqual([])
  })

  it('answers 413 with limit and value to a body announced too long', async () => {
    await start()
    const response = await api.post(makePng({ padding: 2_000_000 }), IMAGE)
    expect(response.status).toBe(413)
    expect((await problemOf(response)).detail).toMatch(/1000000 bytes.*2000\d+/)
  })

  it.each(['announced', 'not announced'])(
    'lets a client that sends all before it reads see the 413, its length %s',
    async (how) => {
      await start()
      const connection = await openRaw(api.port)
      const body = makePng({ padding: 20_000_000 })
      const length = how === 'announced' ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked'
      connection.write(`POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\n${length}\r\n\r\n`)
      if (how === 'announced') connection.write(body)
      else {
        connection.write(`${body.length.toString(16)}\r\n`)
        connection.write(body)
        connection.write('\r\n0\r\n\r\n')
      }
      const { received, reset } = await connection.closed()
      expect(received).toMatch(/^HTTP\/1\.1 413 .*Connection: close.*"code":"too_large"/is)
      expect(reset).toBe(false)
      expect(await api.keys()).toEqual([])
    },
  )

  it('refuses by its headers a client that waits for 100 Continue', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(
      'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n',
    )
    const received = await connection.until('too_large')
    expect(received).toMatch(/^HTTP\/1\.1 413/)
    connection.socket.destroy()
  })

  it('tells a client that waits for 100 Continue to send', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(
      `POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: ${PNG.length}\r\nExpect: 100-continue\r\n\r\n`,
    )
    expect(await connection.until('100 Continue')).toMatch(/^HTTP\/1\.1 100 Continue/)
    connection.write(PNG)
    expect(await connection.until('QUEUED')).toContain('HTTP/1.1 202')
    connection.socket.destroy()
  })

  it('refuses a body that stops coming with 408', async () => {
    await start({ idleMs: 200 })
    const connection = await openRaw(api.port)
    connection.write(
      'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 5000\r\n\r\n',
    )
    connection.write(PNG.subarray(0, 20))
    expect(await connection.until('upload_timeout')).toMatch(/^HTTP\/1\.1 408 .*"retryable":true/s)
    connection.socket.destroy()
    expect(await api.keys()).toEqual([])
  })

  it('leaves nothing of an upload whose client goes half-way, and its key free', async () => {
    await start()
    const connection = await openRaw(api.port)
    connection.write(
      'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 5000\r\nIdempotency-Key: k\r\n\r\n',
    )
    connection.write(PNG.subarray(0, 20))
    await vi.waitFor(() => expect(api.tables.idempotencyRecords.size).toBe(1))
    connection.socket.destroy()
    await vi.waitFor(() => expect(api.tables.idempotencyRecords.size).toBe(0))
    await api.inFlight.settled()
    expect(await api.keys()).toEqual([])
    expect(api.tables.jobs.size).toBe(0)
    expect((await api.post(PNG, { ...IMAGE, 'Idempotency-Key': 'k' })).status).toBe(202)
  })

  it('answers 503 with Retry-After when the store is down, keeps nothing, and frees the key', async () => {
    let down = true
    await start()
    const put = api.objectStore.put
    api.objectStore.put = async (...args) => {
      if (down) throw new DependencyError('object_store', 'the store is down')
      await put(...args)
    }
    const refused = await api.post(PNG, { ...IMAGE, 'Idempotency-Key': 'k' })
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await problemOf(refused)).toMatchObject({ code: 'unavailable', retryable: true })
    down = false
    expect((await api.post(PNG, { ...IMAGE, 'Idempotency-Key': 'k' })).status).toBe(202)
  })

  it('answers a defect with 500 that tells nothing of it', async () => {
    await start({
      failing: {
        objectStore: {
          put: async () => {
            throw new Error('secret detail')
          },
        },
      },
    })
    const response = await api.post(PNG, IMAGE)
    expect(response.status).toBe(500)
    const text = JSON.stringify(await problemOf(response))
    expect(text).not.toMatch(/secret|at .*\.ts/)
  })
})
