import { beforeAll, describe, expect, test } from 'vitest'
import type { JobListBody } from '../../apps/api/schemas/job.ts'
import { problem, type TenantClient, tenantClient } from './tenant-client.ts'

let client: TenantClient
let other: TenantClient
beforeAll(async () => {
  client = await tenantClient()
  other = await tenantClient('otherKey')
})

async function list(query: string, of = client): Promise<JobListBody> {
  const response = await of.fetch(`/v1/jobs?${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as JobListBody
}

describe('the list of jobs', () => {
  test('has every job once, newest first, page by page, though others come meanwhile', async () => {
    const mine: string[] = []
    for (let i = 0; i < 7; i++) mine.unshift((await client.accept()).job_id)
    const since = (await client.job(mine.at(-1)!)).created_at
    const before = new Date(Date.parse(since) - 1).toISOString()
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: JobListBody = await list(
        `limit=2&created_after=${before}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      seen.push(...page.jobs.map(({ job_id }) => job_id))
      cursor = page.next_cursor
      await client.accept()
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter((jobId) => mine.includes(jobId))).toEqual(mine)
  })

  test('shows jobs as they are shown one by one', async () => {
    const { job_id } = await client.accept()
    const job = await client.ended(job_id)
    const { jobs } = await list('limit=100&status=SUCCEEDED')
    expect(jobs.find((listed) => listed.job_id === job_id)).toEqual(job)
  })

  test('has only jobs of a status, where one is named', async () => {
    const { job_id } = await client.accept()
    await client.ended(job_id)
    for (const status of ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED']) {
      const { jobs } = await list(`status=${status}`)
      expect(jobs.every((job) => job.status === status)).toBe(true)
    }
  })

  test('has nothing of another tenant’s, not even behind its cursor', async () => {
    const theirs = new Set([(await other.accept()).job_id, (await other.accept()).job_id])
    const { next_cursor } = await list('limit=1', other)
    for (const query of ['limit=100', `limit=100&cursor=${encodeURIComponent(next_cursor!)}`]) {
      const { jobs } = await list(query)
      expect(jobs.some(({ job_id }) => theirs.has(job_id))).toBe(false)
    }
  })

  test('leaves deleted images out', async () => {
    const { job_id } = await client.accept()
    await client.fetch(`/v1/images/${job_id}`, { method: 'DELETE' })
    const { jobs } = await list('limit=100')
    expect(jobs.some((job) => job.job_id === job_id)).toBe(false)
  })

  test.each([
    'idempotency_key=a%00b',
    'status=DONE',
    'status=queued',
    'created_after=yesterday',
    'cursor=x',
    'cursor=',
    `cursor=${Buffer.from('1.img_0;drop').toString('base64url')}`,
    `cursor=${Buffer.from('99999999999999999.img_0').toString('base64url')}`,
    'limit=0',
    'limit=101',
    'limit=1&limit=2',
    'sort=asc',
  ])('is refused for ?%s: 422', async (query) => {
    const response = await client.fetch(`/v1/jobs?${query}`)
    expect(response.status).toBe(422)
    expect(await problem(response)).toMatchObject({ code: 'invalid_parameter' })
  })
})
