import { beforeAll, describe, expect, test } from 'vitest'
import type { AcceptedJobBody } from '../../apps/api/schemas/job.ts'
import { newImage, newKey, problem, type TenantClient, tenantClient } from './tenant-client.ts'

let client: TenantClient
let other: TenantClient
beforeAll(async () => {
  client = await tenantClient()
  other = await tenantClient('otherKey')
})

describe('a 202', () => {
  test('says where the job is, how long everything lives, and when to come back', async () => {
    const response = await client.post(newImage(), { 'idempotency-key': newKey() }, '?expires_in=600')
    expect(response.status).toBe(202)
    const job = (await response.json()) as AcceptedJobBody
    expect(job).toMatchObject({ status: 'QUEUED', done: false, url: `/v1/jobs/${job.job_id}` })
    expect(response.headers.get('location')).toBe(job.url)
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    const created = Date.parse(job.created_at)
    expect(Date.parse(job.expires_at!) - created).toBe(600_000)
    expect(Date.parse(job.result_expires_at!)).toBeGreaterThan(created)
    expect(Date.parse(job.idempotency_expires_at!)).toBeGreaterThan(Date.parse(job.result_expires_at!))
    expect((await client.job(job.job_id)).created_at).toBe(job.created_at)
  })

  test('names a job that is there: Location followed at once, 1,000 times, is never a 404', async () => {
    let left = 1_000
    async function some(): Promise<void> {
      while (left-- > 0) {
        const accepted = await client.post()
        const followed = await client.fetch(accepted.headers.get('location')!)
        expect(followed.status).toBe(200)
      }
    }
    await Promise.all(Array.from({ length: 8 }, some))
  }, 180_000)

  test.each([
    'expires_in=0',
    'expires_in=86401',
    'expires_in=soon',
    'expires_in=1&expires_in=2',
    'colour=red',
  ])('is not given for ?%s: 422', async (query) => {
    const response = await client.post(newImage(), {}, `?${query}`)
    expect(response.status).toBe(422)
    expect(await problem(response)).toMatchObject({ code: 'invalid_parameter' })
  })
})

describe('a job', () => {
  test('that is not done comes with an integer Retry-After, and one that is with none', async () => {
    const { job_id } = await client.accept()
    for (let done = false; !done; ) {
      const response = await client.fetch(`/v1/jobs/${job_id}`)
      done = ((await response.json()) as { done: boolean }).done
      if (done) expect(response.headers.get('retry-after')).toBeNull()
      else expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    }
  })

  test('that failed says why, and whether the image may be sent again', async () => {
    const { job_id } = await client.accept()
    const cancelled = await client.fetch(`/v1/jobs/${job_id}`, { method: 'DELETE' })
    if (cancelled.status === 409) return
    expect(await client.job(job_id)).toMatchObject({
      status: 'FAILED',
      done: true,
      error: { code: 'cancelled', retryable: true },
    })
    const result = await client.fetch(`/v1/images/${job_id}/thumbnail`)
    expect(result.status).toBe(409)
    expect(await problem(result)).toMatchObject({ code: 'cancelled' })
  })

  test('of an unknown id, of another tenant and of a malformed id is the identical 404', async () => {
    const { job_id } = await other.accept()
    const bodies = new Set<string>()
    for (const id of [
      job_id,
      'img_00000000000000000000000000',
      'img_',
      'x',
      '-1',
      `img_${'z'.repeat(200)}`,
    ]) {
      for (const [method, suffix] of [
        ['GET', ''],
        ['GET', '/events'],
        ['DELETE', ''],
      ] as const) {
        const response = await client.fetch(`/v1/jobs/${id}${suffix}`, { method })
        expect(response.status).toBe(404)
        bodies.add(await response.text())
      }
    }
    expect(bodies.size).toBe(1)
    expect((await other.job(job_id)).job_id).toBe(job_id)
  })

  test('of a deleted image is gone: 410', async () => {
    const { job_id } = await client.accept()
    await client.fetch(`/v1/images/${job_id}`, { method: 'DELETE' })
    for (const path of [
      `/v1/jobs/${job_id}`,
      `/v1/jobs/${job_id}/events`,
      `/v1/images/${job_id}/thumbnail`,
    ]) {
      expect((await client.fetch(path)).status).toBe(410)
    }
    expect((await client.fetch(`/v1/jobs/${job_id}`, { method: 'DELETE' })).status).toBe(410)
  })

  test('has no result before it is done: 409 with Retry-After', async () => {
    for (;;) {
      const { job_id } = await client.accept()
      const response = await client.fetch(`/v1/images/${job_id}/thumbnail`)
      // Done already.
      if (response.status === 200) continue
      expect(response.status).toBe(409)
      expect(await problem(response)).toMatchObject({ code: 'not_done', retryable: true })
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      return
    }
  })
})
