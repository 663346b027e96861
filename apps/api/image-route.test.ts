import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import { outputKey } from '../../core/object-keys.ts'
import type { JobEnd } from '../../core/ports/jobs.ts'
import { DEFAULT_PRESET, type OutputPlan } from '../../core/preset.ts'
import { RESULT, STILL_JPEG } from '../../test/job-result.ts'
import { makePng } from './testing/png.ts'
import { openRaw } from './testing/raw-http.ts'
import { type ApiUnderTest, jsonOf, type Overrides, problemOf, startApi } from './testing/start-api.ts'

const BYTES = Buffer.from('0123456789')
const SHA256 = createHash('sha256').update(BYTES).digest('hex')
const ETAG = `"${SHA256}"`

let api: ApiUnderTest
afterEach(() => api.stop())

const signal = () => AbortSignal.timeout(5_000)

async function acceptedJob(overrides?: Overrides): Promise<string> {
  api = await startApi(overrides)
  const response = await api.post(makePng(), { 'Content-Type': 'image/png' })
  return (await jsonOf(response)).job_id
}

/** A job whose thumbnail is {@link BYTES}; gives the thumbnail's path. */
async function finishedJob(overrides?: Overrides): Promise<{ jobId: string; path: string }> {
  const jobId = await acceptedJob(overrides)
  const key = `outputs/${jobId}/thumbnail@e`
  await api.objectStore.put({ key, body: BYTES, contentType: 'image/jpeg' }, signal())
  const claimed = await api.jobs.claim({ jobId, owner: 'w', leaseMs: 60_000, budget: 5 })
  if (claimed.kind !== 'claimed') throw new Error(claimed.kind)
  const facts = { ...STILL_JPEG, bytes: BYTES.length, sha256: SHA256, width: 2, height: 1 }
  await api.jobs.end({
    jobId,
    by: { kind: 'holder', fence: claimed.fence },
    end: {
      status: 'SUCCEEDED',
      outputs: [{ name: 'thumbnail', key, ...facts }],
      warnings: [],
      result: RESULT,
    },
  })
  return { jobId, path: `/v1/images/${jobId}/thumbnail` }
}

/** A job with an `auto` output `card` in two variants, whose bytes are their formats' names. */
async function jobWithVariants(): Promise<{ jobId: string; path: string }> {
  const card: OutputPlan = { ...DEFAULT_PRESET.outputs[0]!, name: 'card', format: 'auto' }
  const presets = new Map([['thumbnail', { ...DEFAULT_PRESET, outputs: [card] }]])
  const jobId = await acceptedJob({ presets })
  const outputs = await Promise.all(
    (['webp', 'jpeg'] as const).map(async (format) => {
      const body = Buffer.from(format)
      const key = outputKey(jobId, { name: 'card', format }, 'e')
      await api.objectStore.put({ key, body, contentType: `image/${format}` }, signal())
      const sha256 = createHash('sha256').update(body).digest('hex')
      const facts = { bytes: body.length, sha256, width: 2, height: 1, frames: 1, durationMs: null }
      return { name: 'card', key, format, contentType: `image/${format}`, ...facts }
    }),
  )
  await end(jobId, { status: 'SUCCEEDED', outputs, warnings: [], result: RESULT })
  return { jobId, path: `/v1/images/${jobId}/card` }
}

async function end(jobId: string, end: JobEnd['end']): Promise<void> {
  const claimed = await api.jobs.claim({ jobId, owner: 'w', leaseMs: 60_000, budget: 5 })
  if (claimed.kind !== 'claimed') throw new Error(claimed.kind)
  await api.jobs.end({ jobId, by: { kind: 'holder', fence: claimed.fence }, end })
}

describe('an output of format auto', () => {
  it.each([
    ['image/avif,image/webp,image/apng,*/*;q=0.8', 'webp'],
    ['image/*', 'jpeg'],
    ['*/*', 'jpeg'],
    ['text/html', 'jpeg'],
    ['', 'jpeg'],
  ])(
    'is given to Accept: %s as the variant that it prefers, with Vary, never a 406',
    async (accept, format) => {
      const { path } = await jobWithVariants()
      for (const method of ['GET', 'HEAD']) {
        const response = await api.get(path, { method, headers: { Accept: accept } })
        expect(response.status).toBe(200)
        expect(response.headers.get('content-type')).toBe(`image/${format}`)
        expect(response.headers.get('content-length')).toBe(String(format.length))
        expect(response.headers.get('vary')).toBe('Accept')
        expect(await response.text()).toBe(method === 'GET' ? format : '')
      }
    },
  )

  it('has a tag of its own for each variant, and Vary on a 304 and a part too', async () => {
    const { path } = await jobWithVariants()
    const webp = { Accept: 'image/webp' }
    const tag = (await api.get(path, { method: 'HEAD', headers: webp })).headers.get('etag')!
    const fresh = await api.get(path, { headers: { ...webp, 'If-None-Match': tag } })
    expect(fresh.status).toBe(304)
    expect(fresh.headers.get('vary')).toBe('Accept')
    expect(fresh.headers.get('etag')).toBe(tag)
    // The tag of one variant says nothing of the other.
    const other = await api.get(path, { headers: { Accept: 'image/jpeg', 'If-None-Match': tag } })
    expect(other.status).toBe(200)
    expect(other.headers.get('etag')).not.toBe(tag)
    expect(await other.text()).toBe('jpeg')
    const part = await api.get(path, { headers: { ...webp, Range: 'bytes=0-1' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('vary')).toBe('Accept')
    expect(await part.text()).toBe('we')
  })

  it('is the only kind of output that varies', async () => {
    const { jobId, path } = await finishedJob()
    for (const url of [path, `/v1/images/${jobId}/original`]) {
      const response = await api.get(url, { headers: { Accept: 'image/webp' } })
      expect(response.headers.get('vary')).toBeNull()
      await response.text()
    }
  })
})

describe('the outputs of a picture that a moderator rejected', () => {
  it('are withheld with 403, whereas an output that was never planned is a 404', async () => {
    const jobId = await acceptedJob()
    const result = { ...RESULT, moderation: { verdict: 'rejected' as const, labels: ['x'] } }
    await end(jobId, { status: 'SUCCEEDED', outputs: [], warnings: [], result })
    const withheld = await api.get(`/v1/images/${jobId}/thumbnail`)
    expect(withheld.status).toBe(403)
    expect(await problemOf(withheld)).toMatchObject({ code: 'moderation_rejected', retryable: false })
    expect((await api.get(`/v1/images/${jobId}/poster`)).status).toBe(404)
  })
})

describe('GET /v1/images/:id/thumbnail', () => {
  it('gives the bytes with type, length and tag, never to be sniffed or run', async () => {
    const { path } = await finishedJob()
    const response = await api.get(path)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '10',
      etag: ETAG,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    expect(await response.text()).toBe('0123456789')
  })

  it('answers HEAD with the same headers and no body', async () => {
    const { path } = await finishedJob()
    const [head, get] = await Promise.all([api.get(path, { method: 'HEAD' }), api.get(path)])
    const headers = (response: Response) => {
      const connection = ['connection', 'keep-alive', 'date', 'x-request-id']
      return [...response.headers].filter(([name]) => !connection.includes(name))
    }
    expect(head.status).toBe(200)
    expect(headers(head)).toEqual(headers(get))
    expect(await head.text()).toBe('')
    await get.text()
  })

  it.each([ETAG, `W/${ETAG}`, `"other", ${ETAG}`, '*'])('answers 304 to If-None-Match: %s', async (tags) => {
    const { path } = await finishedJob()
    const response = await api.get(path, { headers: { 'If-None-Match': tags } })
    expect(response.status).toBe(304)
    expect(response.headers.get('etag')).toBe(ETAG)
    expect(await response.text()).toBe('')
  })

  it('gives the bytes to an If-None-Match of other bytes', async () => {
    const { path } = await finishedJob()
    const response = await api.get(path, { headers: { 'If-None-Match': '"other"' } })
    expect(response.status).toBe(200)
    await response.text()
  })

  it('answers 412 to an If-Match of other bytes', async () => {
    const { path } = await finishedJob()
    const response = await api.get(path, { headers: { 'If-Match': '"other"' } })
    expect(response.status).toBe(412)
    expect((await jsonOf(response)).code).toBe('changed')
    const same = await api.get(path, { headers: { 'If-Match': ETAG } })
    expect(same.status).toBe(200)
    await same.text()
  })

  it('gives the part that a Range asks for', async () => {
    const { path } = await finishedJob()
    const response = await api.get(path, { headers: { Range: 'bytes=3-5' } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe('bytes 3-5/10')
    expect(response.headers.get('content-length')).toBe('3')
    expect(await response.text()).toBe('345')
  })

  it('answers 416 with the size to a Range outside', async () => {
    const { path } = await finishedJob()
    const response = await api.get(path, { headers: { Range: 'bytes=10-' } })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe('bytes */10')
    expect((await jsonOf(response)).code).toBe('range_not_satisfiable')
  })

  it.each([
    [ETAG, 206],
    [`W/${ETAG}`, 200],
    ['"other"', 200],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 200],
  ])('with If-Range: %s answers a Range with %i', async (tag, status) => {
    const { path } = await finishedJob()
    const response = await api.get(path, { headers: { Range: 'bytes=0-0', 'If-Range': tag } })
    expect(response.status).toBe(status)
    await response.text()
  })

  it('answers 409 with Retry-After while the job is not done', async () => {
    const jobId = await acceptedJob()
    const response = await api.get(`/v1/images/${jobId}/thumbnail`)
    expect(response.status).toBe(409)
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(await jsonOf(response)).toMatchObject({ code: 'not_done', retryable: true })
  })

  it('answers 409 with the job’s code after it failed', async () => {
    const jobId = await acceptedJob()
    const error = { code: 'corrupt', message: 'the PNG is broken' } as const
    await api.jobs.end({ jobId, by: { kind: 'owner' }, end: { status: 'FAILED', error } })
    const response = await api.get(`/v1/images/${jobId}/thumbnail`)
    expect(response.status).toBe(409)
    expect(await jsonOf(response)).toMatchObject({
      code: 'corrupt',
      detail: 'the job failed: the PNG is broken',
      retryable: false,
    })
  })

  it('answers 404 for an output that the job has not, and for a job that is not', async () => {
    const { jobId } = await finishedJob()
    const output = await api.get(`/v1/images/${jobId}/poster`)
    expect([output.status, (await jsonOf(output)).code]).toEqual([404, 'no_such_output'])
    const job = await api.get(`/v1/images/img_${'0'.repeat(26)}/thumbnail`)
    expect([job.status, (await jsonOf(job)).code]).toEqual([404, 'no_such_job'])
  })

  it('answers 503 when the store is down', async () => {
    const { path } = await finishedJob({
      failing: { objectStore: { get: () => Promise.reject(new DependencyError('object_store', 'down')) } },
    })
    const response = await api.get(path)
    expect(response.status).toBe(503)
    expect((await jsonOf(response)).code).toBe('unavailable')
  })

  it('answers 500 when the store has lost what the job names, and 410 when that was deleted meanwhile', async () => {
    const { jobId, path } = await finishedJob()
    await api.objectStore.delete([`outputs/${jobId}/thumbnail@e`], signal())
    expect((await api.get(path)).status).toBe(500)
    const { get } = api.objectStore
    api.objectStore.get = async (...args) => {
      await api.jobs.bury(jobId)
      return get(...args)
    }
    expect((await api.get(path)).status).toBe(410)
  })

  it('cuts the connection when the store breaks off', async () => {
    const { path } = await finishedJob({
      failing: {
        objectStore: {
          get: async () => ({
            bytes: BYTES.length,
            body: Readable.from(
              (async function* () {
                yield BYTES.subarray(0, 4)
                throw new DependencyError('object_store', 'broke off')
              })(),
            ),
          }),
        },
      },
    })
    await expect(api.get(path).then((response) => response.text())).rejects.toThrow()
  })

  it('breaks off where the stored object does, and leaves no client waiting for the rest', async () => {
    const { path } = await finishedJob({
      failing: {
        objectStore: { get: async () => ({ bytes: 1, body: Readable.from([Buffer.alloc(1)]) }) },
      },
    })
    const response = await api.get(path)
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow()
  })

  it('reads at the client’s pace, and lets the store go when the client goes', async () => {
    let given = 0
    const body = new Readable({
      read() {
        given += 65_536
        this.push(Buffer.alloc(65_536))
      },
    })
    const { path } = await finishedJob({
      failing: { objectStore: { get: async () => ({ bytes: 1_000_000_000, body }) } },
    })
    const connection = await openRaw(api.port)
    connection.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await connection.until('200 OK')
    connection.socket.pause()
    // What the socket's buffers hold is all that is read for a client that takes nothing.
    let before = -1
    await vi.waitFor(
      () => {
        const still = given === before
        before = given
        expect(still).toBe(true)
      },
      { interval: 100, timeout: 5_000 },
    )
    expect(given).toBeLessThan(100_000_000)
    connection.socket.destroy()
    await vi.waitFor(() => expect(body.destroyed).toBe(true))
  })
})

describe('GET /v1/images/:id/original', () => {
  it('gives the original back as an attachment, before the job is done', async () => {
    const jobId = await acceptedJob()
    const response = await api.get(`/v1/images/${jobId}/original`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${jobId}.png"`)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(Buffer.from(await response.arrayBuffer()).equals(makePng())).toBe(true)
  })
})

describe('DELETE /v1/images/:id', () => {
  it('removes original and outputs, and leaves a tombstone', async () => {
    const { jobId, path } = await finishedJob()
    const response = await api.get(`/v1/images/${jobId}`, { method: 'DELETE' })
    expect(response.status).toBe(204)
    expect(await api.keys()).toEqual([])
    expect(api.tables.jobs.get(jobId)?.objectsDeletedAt).not.toBeNull()
    for (const gone of [path, `/v1/images/${jobId}/original`, `/v1/jobs/${jobId}`]) {
      expect((await api.get(gone)).status).toBe(410)
    }
    expect((await api.get(`/v1/images/${jobId}`, { method: 'DELETE' })).status).toBe(410)
  })

  it('ends a job that is not done', async () => {
    const jobId = await acceptedJob()
    await api.get(`/v1/images/${jobId}`, { method: 'DELETE' })
    expect(api.tables.jobs.get(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'deleted' } })
  })

  it('is done once the tombstone stands, though the store is down: the sweep finds the objects', async () => {
    const { jobId } = await finishedJob({
      failing: { objectStore: { delete: () => Promise.reject(new DependencyError('object_store', 'down')) } },
    })
    const response = await api.get(`/v1/images/${jobId}`, { method: 'DELETE' })
    expect(response.status).toBe(204)
    expect(await api.jobs.tombstonesWithObjects({ max: 10 })).toEqual([jobId])
  })

  it('answers 404 for an unknown image, and for another tenant’s', async () => {
    const jobId = await acceptedJob()
    api.tables.jobs.get(jobId)!.tenant = 'somebody else'
    for (const id of [jobId, 'img_0', 'nonsense']) {
      expect((await api.get(`/v1/images/${id}`, { method: 'DELETE' })).status).toBe(404)
    }
    expect(api.tables.jobs.get(jobId)?.deletedAt).toBeNull()
  })
})
