import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CallbackBody, CallbackListBody } from '../../apps/api/schemas/callback.ts'
import { until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'
import { checkedFetch } from './checked-fetch.ts'
import { type ContractService, contractService } from './service.ts'

// Delivery itself needs a receiver that the service is allowed to reach: test/end-to-end/callbacks.test.ts. Here the name
// never resolves, wherever the service runs.
const NOWHERE = 'https://callbacks.invalid/img42?a=b'

let service: ContractService
let image: Uint8Array<ArrayBuffer>

beforeAll(async () => {
  service = await contractService()
  image = new Uint8Array((await testImage('png-alpha')).bytes)
})

const call = (path: string, init: RequestInit = {}, key = service.key) =>
  checkedFetch(service.url + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })

const post = (callbackUrl: string | null, idempotencyKey = randomUUID()) =>
  call(`/v1/images${callbackUrl === null ? '' : `?callback_url=${encodeURIComponent(callbackUrl)}`}`, {
    ...{ method: 'POST', body: image },
    headers: { 'content-type': 'image/png', 'idempotency-key': idempotencyKey },
  })

/** A job that has ended; its id. */
async function ended(callbackUrl: string | null): Promise<string> {
  const response = await post(callbackUrl)
  expect(response.status).toBe(202)
  const { job_id: jobId } = (await response.json()) as { job_id: string }
  await until(async () => ((await (await call(`/v1/jobs/${jobId}`)).json()) as { done: boolean }).done)
  return jobId
}

async function callbacksOf(jobId: string): Promise<CallbackBody[]> {
  const response = await call(`/v1/jobs/${jobId}/callbacks`)
  expect(response.status).toBe(200)
  return ((await response.json()) as CallbackListBody).callbacks
}

describe('a job that ended', () => {
  it('owes one callback, whose failed tries are logged, if it asked for one', async () => {
    const jobId = await ended(NOWHERE)
    const [callback, ...more] = await until(async () => {
      const callbacks = await callbacksOf(jobId)
      return callbacks[0]?.deliveries.length ? callbacks : null
    })
    expect(more).toEqual([])
    expect(callback).toMatchObject({ event: 'job.succeeded', url: NOWHERE, state: 'PENDING' })
    expect(callback?.callback_id).toMatch(/^msg_[0-9a-z]+_1$/)
    expect(callback?.deliveries[0]).toHaveProperty('error')
  })

  it('owes none if it asked for none', async () => {
    expect(await callbacksOf(await ended(null))).toEqual([])
  })

  it('has its callbacks go with it when it is deleted', async () => {
    const jobId = await ended(NOWHERE)
    expect((await call(`/v1/images/${jobId}`, { method: 'DELETE' })).status).toBe(204)
    expect((await call(`/v1/jobs/${jobId}/callbacks`)).status).toBe(410)
  })
})

describe('a resend', () => {
  it('makes the callback due at once, with all of its tries, under its id', async () => {
    const jobId = await ended(NOWHERE)
    const first = await until(async () => {
      const [callback] = await callbacksOf(jobId)
      return callback?.deliveries.length ? callback : null
    })
    const path = `/v1/jobs/${jobId}/callbacks/${first.callback_id}/resend`
    const response = await until(async () => {
      const answer = await call(path, { method: 'POST' })
      // It may be being sent just now.
      return answer.status === 409 ? null : answer
    })
    expect(response.status).toBe(202)
    expect(await response.json()).toMatchObject({ callback_id: first.callback_id, state: 'PENDING' })
    await until(async () => (await callbacksOf(jobId))[0]!.deliveries.length > first.deliveries.length)
  })

  it('of what the job has not is a 404', async () => {
    const jobId = await ended(NOWHERE)
    for (const callback of ['msg_unknown', 'x', 'a%20b', '..%2f..', 'a%00b']) {
      const response = await call(`/v1/jobs/${jobId}/callbacks/${callback}/resend`, { method: 'POST' })
      expect(response.status, callback).toBe(404)
    }
    const other = await ended(NOWHERE)
    const [callback] = await callbacksOf(other)
    const response = await call(`/v1/jobs/${jobId}/callbacks/${callback!.callback_id}/resend`, {
      method: 'POST',
    })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 'no_such_callback' })
  })
})

describe('callbacks of another tenant', () => {
  it('answer as those of a job that there is not', async () => {
    const jobId = await ended(NOWHERE)
    const [callback] = await callbacksOf(jobId)
    const unknown = 'img_01aaaaaaaaaaaaaaaaaaaaaaaa'
    const requests = [
      ['GET', `/v1/jobs/${jobId}/callbacks`, `/v1/jobs/${unknown}/callbacks`],
      [
        'POST',
        `/v1/jobs/${jobId}/callbacks/${callback!.callback_id}/resend`,
        `/v1/jobs/${unknown}/callbacks/${callback!.callback_id}/resend`,
      ],
    ] as const
    for (const [method, foreign, missing] of requests) {
      const [theirs, nobodys] = [
        await call(foreign, { method }, service.otherKey),
        await call(missing, { method }, service.otherKey),
      ]
      expect([theirs.status, nobodys.status]).toEqual([404, 404])
      expect(await theirs.text()).toBe(await nobodys.text())
    }
  })
})

describe('a callback_url', () => {
  it.each([
    ['plain HTTP', 'http://callbacks.invalid/'],
    ['with a password', 'https://user:secret@callbacks.invalid/'],
    ['with a fragment', 'https://callbacks.invalid/#a'],
    ['with a line break', 'https://callbacks.invalid/\r\nX-Injected: 1'],
    ['on the port of mail', 'https://callbacks.invalid:25/'],
    ['to a private address', 'https://192.168.255.254/'],
    ['to link-local', 'https://169.254.169.254/latest/meta-data/'],
    ['to an IPv4-mapped address', 'https://[::ffff:a9fe:a9fe]/'],
    ['to the unspecified address', 'https://0.0.0.0/'],
    ['in decimal', 'https://2852039166/'],
    ['in octal', 'https://0251.0376.0251.0376/'],
    ['in hexadecimal', 'https://0xa9fea9fe/'],
  ])('%s is refused, naming it', async (_, url) => {
    const response = await post(url)
    expect(response.status).toBe(422)
    expect(JSON.stringify(await response.json())).toContain('callback_url')
  })

  it.each([
    ['no URL', 'callbacks.invalid'],
    ['of another scheme', 'file:///etc/passwd'],
    ['too long', `https://callbacks.invalid/${'a'.repeat(2_048)}`],
    ['empty', ''],
  ])('that is %s is refused', async (_, url) => {
    expect((await post(url)).status).toBe(422)
  })

  it('is part of what an idempotency key stands for', async () => {
    const key = randomUUID()
    expect((await post(NOWHERE, key)).status).toBe(202)
    expect((await post(NOWHERE, key)).headers.get('idempotent-replayed')).toBe('true')
    for (const other of [null, 'https://callbacks.invalid/other']) {
      const response = await post(other, key)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({ code: 'idempotency_key_reused' })
    }
  })
})
