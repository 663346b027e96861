import { afterEach, describe, expect, it } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
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
    expect(response.headers.get('retry-after')).toBe('2')
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
    expect(response.headers.get('retry-after')).toBe('9')
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
      contentType: 'image/jpeg',
      bytes: 9,
      sha256: 'ab',
      width: 2,
      height: 1,
    }
    await api.jobs.end({
      jobId,
      by: { kind: 'holder', fence: await claim(jobId) },
      end: { status: 'SUCCEEDED', outputs: [output], warnings: [] },
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

  it('says why a job failed', async () => {
    const jobId = await acceptedJob()
    const error = { code: 'corrupt', message: 'the PNG is broken' } as const
    await api.jobs.end({ jobId, by: { kind: 'owner' }, end: { status: 'FAILED', error } })
    const response = await api.get(`/v1/jobs/${jobId}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('retry-after')).toBeNull()
    expect(await jsonOf(response)).toMatchObject({ status: 'FAILED', done: true, error })
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
