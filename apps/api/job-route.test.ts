import { afterEach, describe, expect, it } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import type { SourceFacts } from '../../core/ports/renderer.ts'
import { FACTS, RESULT, STILL_JPEG } from '../../test/job-result.ts'
import { makePng } from './testing/png.ts'
import { type ApiUnderTest, jsonOf, type Overrides, startApi } from './testing/start-api.ts'

let api: ApiUnderTest
afterEach(() => api.stop())

async function acceptedJob(overrides?: Overrides): Promise<string> {
  api = await startApi(overrides)
  const response = await api.post(makePng(), { 'Content-Type': 'image/png' })
  return (await jsonOf(response)).job_id
}

const claim = async (jobId: string) => {
  const claimed = await api.jobs.claim({ jobId, owner: 'w', leaseMs: 60_000, budget: 5 })
  if (claimed.kind !== 'claimed') throw new Error(claimed.kind)
  return claimed.fence
}

describe('GET /v1/jobs/:id', () => {
  it('shows a waiting job, says when to look again, and forbids caches to keep it', async () => {
    const jobId = await acceptedJob()
    const response = await api.get(`/v1/jobs/${jobId}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const job = await jsonOf(response)
    expect(job).toMatchObject({
      job_id: jobId,
      status: 'QUEUED',
      done: false,
      attempts: 0,
      original: { url: `/v1/images/${jobId}/original`, content_type: 'image/png', width: 2, height: 2 },
      warnings: [],
    })
    expect(job).not.toHaveProperty('next_attempt_at')
    expect(job).not.toHaveProperty('result')
  })

  it('shows why a job is tried again, and when', async () => {
    const jobId = await acceptedJob()
    const error = { code: 'renderer_crashed', message: 'the renderer died' } as const
    await api.jobs.putBack({ jobId, fence: await claim(jobId), charged: true, delayMs: 7_500, error })
    const response = await api.get(`/v1/jobs/${jobId}`)
    // Until it is due, and a while for the work.
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(3)
    expect(await jsonOf(response)).toMatchObject({
      status: 'QUEUED',
      attempts: 1,
      last_error: error,
      next_attempt_at:
        api.tables.jobs.get(jobId)?.runAt && new Date(api.tables.jobs.get(jobId)!.runAt).toISOString(),
    })
  })

  it('names the result of a job that succeeded, and asks nobody to come back', async () => {
    const jobId = await acceptedJob()
    const output = {
      name: 'thumbnail',
      key: `outputs/${jobId}/thumbnail@e`,
      ...STILL_JPEG,
      bytes: 9,
      sha256: 'ab',
      width: 2,
      height: 1,
    }
    await api.jobs.end({
      jobId,
      by: { kind: 'holder', fence: await claim(jobId) },
      end: { status: 'SUCCEEDED', outputs: [output], warnings: [], result: RESULT },
    })
    const response = await api.get(`/v1/jobs/${jobId}`)
    expect(response.headers.get('retry-after')).toBeNull()
    const job = await jsonOf(response)
    expect(job).toMatchObject({
      status: 'SUCCEEDED',
      done: true,
      result: `/v1/images/${jobId}/thumbnail`,
      outputs: [
        {
          name: 'thumbnail',
          url: `/v1/images/${jobId}/thumbnail`,
          content_type: 'image/jpeg',
          bytes: 9,
          sha256: 'ab',
          width: 2,
          height: 1,
        },
      ],
    })
    // Where objects lie is nobody's business.
    expect(JSON.stringify(job)).not.toContain('outputs/')
  })

  it('shows what was learnt of the image and what it took, with units in the names', async () => {
    const jobId = await acceptedJob()
    const facts: SourceFacts = {
      ...{
        ...FACTS,
        type: 'image/gif',
        width: 30,
        height: 20,
        pages: 3,
        durationMs: 250.5,
        loop: 0,
        alpha: true,
      },
      ...{ profile: 'sRGB IEC61966-2.1', camera: { make: 'Nikon' }, capturedAt: '2024-05-01T10:00:00' },
    }
    const output = { ...STILL_JPEG, bytes: 9, sha256: 'ab', width: 2, height: 1, key: 'k', name: 'poster' }
    const moving = {
      ...output,
      format: 'webp' as const,
      contentType: 'image/webp',
      frames: 3,
      durationMs: 250.5,
    }
    const outputs = [
      output,
      { ...moving, name: 'moving' },
      { ...moving, format: 'gif' as const, name: 'moving' },
    ]
    const result = { ...RESULT, facts, moderation: { verdict: 'approved' as const, labels: ['cat'] } }
    await api.jobs.end({
      jobId,
      by: { kind: 'holder', fence: await claim(jobId) },
      end: { status: 'SUCCEEDED', outputs, warnings: [], result },
    })
    const job = await jsonOf(await api.get(`/v1/jobs/${jobId}`))
    expect(job).toMatchObject({
      result: `/v1/images/${jobId}/poster`,
      outputs: [
        { name: 'poster', format: 'jpeg', frames: 1 },
        { name: 'moving', format: 'webp', frames: 3, duration_ms: 250.5, url: `/v1/images/${jobId}/moving` },
        { name: 'moving', format: 'gif', frames: 3 },
      ],
      engine: 'engine-1',
      facts: {
        ...{ content_type: 'image/gif', width: 30, height: 20, pages: 3, duration_ms: 250.5, loop: 0 },
        ...{ alpha: true, colour_space: 'srgb', profile: 'sRGB IEC61966-2.1', bit_depth: 8 },
        ...{ camera: { make: 'Nikon' }, captured_at: '2024-05-01T10:00:00' },
        ...{ thumbhash: FACTS.thumbhash, dominant: '#808080', palette: ['#808080'] },
      },
      cost: { decode_ms: 3, resize_ms: 2, encode_ms: 1, peak_rss_bytes: 100_000_000 },
      moderation: { verdict: 'approved', labels: ['cat'] },
    })
    expect(job).not.toHaveProperty('facts.gps')
    expect(JSON.stringify(job)).not.toMatch(/"[a-z]+[A-Z][A-Za-z]*":/)
  })

  it('names no result where a moderator rejected the picture', async () => {
    const jobId = await acceptedJob()
    const result = { ...RESULT, moderation: { verdict: 'rejected' as const, labels: [] } }
    await api.jobs.end({
      jobId,
      by: { kind: 'holder', fence: await claim(jobId) },
      end: { status: 'SUCCEEDED', outputs: [], warnings: [], result },
    })
    const job = await jsonOf(await api.get(`/v1/jobs/${jobId}`))
    expect(job).toMatchObject({
      status: 'SUCCEEDED',
      outputs: [],
      moderation: { verdict: 'rejected', labels: [] },
    })
    expect(job).not.toHaveProperty('result')
  })

  it('says why a job failed', async () => {
    const jobId = await acceptedJob()
    const error = { code: 'corrupt', message: 'the PNG is broken' } as const
    await api.jobs.end({ jobId, by: { kind: 'owner' }, end: { status: 'FAILED', error } })
    const response = await api.get(`/v1/jobs/${jobId}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('retry-after')).toBeNull()
    expect(await jsonOf(response)).toMatchObject({
      status: 'FAILED',
      done: true,
      error: { ...error, fault: 'file' },
    })
  })

  it('gives unknown, malformed and other tenants’ ids the identical 404', async () => {
    const jobId = await acceptedJob()
    api.tables.jobs.get(jobId)!.tenant = 'somebody else'
    const unknown = `img_${'0'.repeat(26)}`
    const malformed = [
      'nonsense',
      'img_',
      'IMG_ABC',
      'img_%00',
      `img_${'a'.repeat(500)}`,
      '..%2f..%2fetc',
      "img_a'--",
    ]
    const answers = await Promise.all(
      [jobId, unknown, ...malformed].map(async (id) => {
        const response = await api.get(`/v1/jobs/${id}`)
        const headers = Object.fromEntries(response.headers)
        delete headers['x-request-id']
        delete headers.date
        return JSON.stringify([response.status, headers, await response.text()])
      }),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(/404.*problem\+json.*no_such_job/)
  })

  it('answers 410 for a tombstone', async () => {
    const jobId = await acceptedJob()
    await api.jobs.bury(jobId)
    const response = await api.get(`/v1/jobs/${jobId}`)
    expect(response.status).toBe(410)
    expect(await jsonOf(response)).toMatchObject({ code: 'gone', retryable: false })
  })

  it('answers 503 with Retry-After when the database is down', async () => {
    api = await startApi({
      failing: {
        jobs: { find: () => Promise.reject(new DependencyError('database', 'secret host is down')) },
      },
    })
    const response = await api.get(`/v1/jobs/img_${'0'.repeat(26)}`)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await response.text()).not.toContain('secret')
  })
})
