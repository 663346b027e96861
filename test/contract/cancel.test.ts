import { beforeAll, describe, expect, test } from 'vitest'
import type { JobBody } from '../../apps/api/schemas/job.ts'
import { allOf, followEvents } from './event-stream.ts'
import { problem, slowImage, type TenantClient, tenantClient } from './tenant-client.ts'

// That a cancel racing a completion leaves one end is shown with the table alone: test/races/cancels.test.ts.
let client: TenantClient
beforeAll(async () => {
  client = await tenantClient()
})

const cancel = (jobId: string) => client.fetch(`/v1/jobs/${jobId}`, { method: 'DELETE' })

describe('a cancel', () => {
  test('of a job that runs ends it at once, and its events with it', async () => {
    for (;;) {
      const { job_id } = await client.accept(slowImage())
      const names: string[] = []
      let answer: Response | null = null
      for await (const { data } of followEvents(client, job_id)) {
        names.push(data.event)
        if (data.status === 'RUNNING') answer = await cancel(job_id)
      }
      // It was faster.
      if (answer?.status === 409) continue
      expect(answer?.status).toBe(200)
      const job = (await answer!.json()) as JobBody
      expect(job).toMatchObject({
        status: 'FAILED',
        done: true,
        error: { code: 'cancelled', retryable: true },
      })
      expect(names).toEqual(['accepted', 'claimed', 'failed'])
      return
    }
  })

  test('of a job that is done is refused with 409 and the state, and changes nothing', async () => {
    const { job_id } = await client.accept()
    const before = await client.ended(job_id)
    const response = await cancel(job_id)
    expect(response.status).toBe(409)
    expect(await problem(response)).toMatchObject({ code: 'already_done', job_status: 'SUCCEEDED' })
    expect(await client.job(job_id)).toEqual(before)
  })

  test('of many jobs as they come and go leaves each with one end, which the answer told', async () => {
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        const { job_id } = await client.accept()
        const answer = await cancel(job_id)
        const job = await client.ended(job_id)
        if (answer.status === 200) expect(job.error).toMatchObject({ code: 'cancelled' })
        else expect(job.status).toBe('SUCCEEDED')
        const events = await allOf(followEvents(client, job_id))
        expect(events.filter(({ data }) => data.done)).toHaveLength(1)
      }),
    )
  })

  test('ends a wait', async () => {
    const { job_id } = await client.accept(slowImage())
    const waiting = client.fetch(`/v1/jobs/${job_id}`, { headers: { prefer: 'wait=60' } })
    await cancel(job_id)
    expect(await (await waiting).json()).toMatchObject({ done: true })
  })
})
