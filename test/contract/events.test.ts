import { beforeAll, describe, expect, test } from 'vitest'
import { allOf, followEvents, type StreamedEvent } from './event-stream.ts'
import { newImage, problem, type TenantClient, tenantClient } from './tenant-client.ts'

let client: TenantClient
beforeAll(async () => {
  client = await tenantClient()
})

const namesOf = (events: StreamedEvent[]) => events.map(({ data }) => data.event)

describe('a job’s events', () => {
  test('are each of its changes once, in their order, and end with its end', async () => {
    const { job_id } = await client.accept()
    const events = await allOf(followEvents(client, job_id))
    expect(namesOf(events)).toEqual(['accepted', 'claimed', 'succeeded'])
    expect(events.map(({ data }) => [data.status, data.done])).toEqual([
      ['QUEUED', false],
      ['RUNNING', false],
      ['SUCCEEDED', true],
    ])
    const ids = events.map(({ id }) => Number(id))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(events.map(({ data }) => data.job_id))).toEqual(new Set([job_id]))
  })

  test('are the same for everybody, during the job and after it', async () => {
    const { job_id } = await client.accept()
    const all = await Promise.all(Array.from({ length: 10 }, () => allOf(followEvents(client, job_id))))
    const later = await allOf(followEvents(client, job_id))
    for (const events of all) expect(events).toEqual(later)
  })

  test('go on after Last-Event-ID, of a job that is done as well', async () => {
    const { job_id } = await client.accept()
    const events = await allOf(followEvents(client, job_id))
    for (const [i, { id }] of events.entries()) {
      expect(await allOf(followEvents(client, job_id, { lastId: id }))).toEqual(events.slice(i + 1))
    }
  })

  test('that a client has all of are answered with 204, which tells it to stop', async () => {
    const { job_id } = await client.accept()
    const events = await allOf(followEvents(client, job_id))
    const response = await client.fetch(`/v1/jobs/${job_id}/events`, {
      headers: { 'last-event-id': events.at(-1)!.id },
    })
    expect(response.status).toBe(204)
  })

  test('that are cut by the client after each one, and resumed, are complete', async () => {
    const { job_id } = await client.accept(newImage())
    const seen: StreamedEvent[] = []
    while (!seen.at(-1)?.data.done) {
      const cut = new AbortController()
      for await (const event of followEvents(client, job_id, {
        lastId: seen.at(-1)?.id ?? '0',
        signal: cut.signal,
      })) {
        seen.push(event)
        break
      }
      cut.abort()
    }
    expect(namesOf(seen)).toEqual(['accepted', 'claimed', 'succeeded'])
  })

  test('after an id that is none are refused with 422', async () => {
    const { job_id } = await client.accept()
    const response = await client.fetch(`/v1/jobs/${job_id}/events`, { headers: { 'last-event-id': 'x' } })
    expect(response.status).toBe(422)
    expect(await problem(response)).toMatchObject({ code: 'invalid_parameter' })
  })
})
