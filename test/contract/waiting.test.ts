import { beforeAll, describe, expect, test } from 'vitest'
import type { AcceptedJobBody, JobBody } from '../../apps/api/schemas/job.ts'
import { newImage, newKey, type TenantClient, tenantClient } from './tenant-client.ts'

// That one look a second serves all who wait, and that a stopping process ends waits: apps/api/job-watch.test.ts.
let client: TenantClient
beforeAll(async () => {
  client = await tenantClient()
})

describe('Prefer: wait', () => {
  test('on POST is answered with 202 and the job that is done', async () => {
    const response = await client.post(newImage(), { prefer: 'wait=60' })
    expect(response.status).toBe(202)
    expect(response.headers.get('preference-applied')).toBe('wait=60')
    expect(response.headers.get('retry-after')).toBeNull()
    expect(await response.json()).toMatchObject({ status: 'SUCCEEDED', done: true })
  })

  test('on GET is answered as soon as the job is done, to everybody who waits', async () => {
    const { job_id } = await client.accept()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        client.fetch(`/v1/jobs/${job_id}`, { headers: { prefer: 'wait=60' } }),
      ),
    )
    for (const answer of answers) {
      expect(answer.headers.get('preference-applied')).toBe('wait=60')
      expect((await answer.json()) as JobBody).toMatchObject({ job_id, done: true })
    }
  })

  test('on a replay waits for the first request’s job', async () => {
    const [image, key] = [newImage(), { 'idempotency-key': newKey() }]
    const { job_id } = await client.accept(image, key)
    const again = await client.post(image, { ...key, prefer: 'wait=60' })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await again.json()) as AcceptedJobBody).toMatchObject({ job_id, done: true })
  })

  test('for no time at all is honoured: the job as it stands', async () => {
    const response = await client.post(newImage(), { prefer: 'wait=0' })
    expect(response.status).toBe(202)
    expect(response.headers.get('preference-applied')).toBe('wait=0')
  })

  test('for longer than 60 seconds is one for 60', async () => {
    const response = await client.post(newImage(), { prefer: 'respond-async, wait=3600' })
    expect(response.headers.get('preference-applied')).toBe('wait=60')
    expect(await response.json()).toMatchObject({ done: true })
  })

  test.each(['wait', 'wait=', 'wait=-1', 'wait=soon', 'wait=1.5', 'handling=lenient'])(
    'that says %s is none',
    async (prefer) => {
      const response = await client.post(newImage(), { prefer })
      expect(response.status).toBe(202)
      expect(response.headers.get('preference-applied')).toBeNull()
    },
  )
})
