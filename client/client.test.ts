import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { type StubServer, startStubServer } from '../test/stub-server.ts'
import { createClientIn } from './client.ts'
import { ConnectionError, ProblemError } from './errors.ts'

interface Received {
  method: string
  url: string
  headers: IncomingMessage['headers']
  bytes: number
  sha256: string
}

type Script = (request: Received, response: ServerResponse, nth: number) => void

let server: StubServer
afterEach(() => server.stop())

/** A client whose service answers as the script says, and whose waits are noted instead of waited. */
async function clientOf(script: Script) {
  const received: Received[] = []
  const waits: number[] = []
  server = await startStubServer(async (request, response) => {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of request) {
      hash.update(chunk)
      bytes += chunk.length
    }
    const { method = '', url = '', headers } = request
    received.push({ method, url, headers, bytes, sha256: hash.digest('hex') })
    script(received.at(-1)!, response, received.length)
  })
  const surroundings = {
    fetch,
    random: () => 0,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted()
      waits.push(ms)
    },
  }
  const client = createClientIn(surroundings, { baseUrl: `${server.url}/`, apiKey: 'img42_secret' })
  return { client, received, waits }
}

const JOB = { job_id: 'img_1', status: 'QUEUED', done: false, url: '/v1/jobs/img_1' }
const DONE = { ...JOB, status: 'SUCCEEDED', done: true }

function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function problem(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  answer(response, status, { status, code, detail: `it is ${code}`, retryable: false }, headers)
}

const image = () => new Uint8Array(300_000).fill(7)

describe('upload', () => {
  test('keeps one key and one body over lost answers, 409, 429 and 503, and waits as it is told', async () => {
    const { client, received, waits } = await clientOf((_request, response, nth) => {
      if (nth === 1) response.destroy()
      else if (nth === 2) problem(response, 409, 'upload_in_progress', { 'Retry-After': '3' })
      else if (nth === 3) problem(response, 429, 'rate_limited', { 'Retry-After': '7' })
      else if (nth === 4) problem(response, 503, 'unavailable')
      // An answer that breaks off is a lost one.
      else if (nth === 5)
        response.writeHead(202, { 'Content-Length': '100' }).write('{"job', () => response.destroy())
      else answer(response, 202, JOB)
    })
    await expect(client.upload(image())).resolves.toEqual(JOB)
    expect(received).toHaveLength(6)
    const keys = new Set(received.map(({ headers }) => headers['idempotency-key']))
    expect([...keys]).toEqual([expect.stringMatching(/^"[0-9a-f-]{36}"$/)])
    expect(new Set(received.map(({ sha256 }) => sha256)).size).toBe(1)
    expect(received[0]).toMatchObject({
      url: '/v1/images',
      bytes: 300_000,
      headers: { authorization: 'Bearer img42_secret', 'content-type': 'application/octet-stream' },
    })
    expect(waits).toEqual([250, 3_000, 7_000, 2_000, 4_000])
  })

  test('takes the key, the options and the type that it is given', async () => {
    const { client, received } = await clientOf((_request, response) => answer(response, 202, JOB))
    await client.upload(new Blob([image()], { type: 'image/png' }), {
      idempotencyKey: 'order "7"',
      expiresIn: 60,
      callbackUrl: 'https://a.example/?x=1&y=2',
      preset: 'small',
      wait: 99,
    })
    const { url, headers } = received[0]!
    expect(Object.fromEntries(new URL(url, 'http://a').searchParams)).toEqual({
      expires_in: '60',
      callback_url: 'https://a.example/?x=1&y=2',
      preset: 'small',
    })
    expect(headers).toMatchObject({
      'idempotency-key': '"order \\"7\\""',
      'content-type': 'image/png',
      prefer: 'wait=60',
    })
  })

  test('tells how much is sent, and begins again with the second try', async () => {
    const { client, received } = await clientOf((_request, response, nth) =>
      nth === 1 ? response.destroy() : answer(response, 202, JOB),
    )
    const told: number[] = []
    await client.upload(image(), { onProgress: ({ sentBytes }) => told.push(sentBytes) })
    expect(received.map(({ bytes }) => bytes)).toEqual([300_000, 300_000])
    expect(told.filter((sent) => sent === 0)).toHaveLength(2)
    expect(told.some((sent) => sent > 0 && sent < 300_000)).toBe(true)
    expect(told.at(-1)).toBe(300_000)
  })

  test.each([
    [400, 'idempotency_key_malformed'],
    [401, 'unauthorized'],
    [413, 'too_large'],
    [422, 'corrupt'],
    [409, 'not_done'],
  ])('does not send again what is refused with %i %s', async (status, code) => {
    const { client, received } = await clientOf((_request, response) => problem(response, status, code))
    const refusal = await client.upload(image()).catch((error) => error)
    expect(refusal).toBeInstanceOf(ProblemError)
    expect(refusal).toMatchObject({ status, code, message: `it is ${code}` })
    expect(received).toHaveLength(1)
  })

  test('gives up in the end, and says with what', async () => {
    const { client, received } = await clientOf((_request, response) => response.destroy())
    await expect(client.upload(image())).rejects.toBeInstanceOf(ConnectionError)
    expect(received).toHaveLength(7)
  })

  test('does not wait for hours because it is told to', async () => {
    const { client, received } = await clientOf((_request, response) =>
      problem(response, 429, 'too_many_jobs', { 'Retry-After': '3600' }),
    )
    await expect(client.upload(image())).rejects.toMatchObject({
      code: 'too_many_jobs',
      retryAfterSeconds: 3_600,
    })
    expect(received).toHaveLength(1)
  })

  test('ends with the signal’s reason', async () => {
    const stop = new AbortController()
    const { client, received } = await clientOf(() => stop.abort(new Error('enough')))
    await expect(client.upload(image(), { signal: stop.signal })).rejects.toThrow('enough')
    expect(received).toHaveLength(1)
  })

  test('makes a problem of what a proxy answers', async () => {
    const { client } = await clientOf((_request, response) => response.writeHead(403).end('<h1>no</h1>'))
    await expect(client.upload(image())).rejects.toMatchObject({
      status: 403,
      code: 'http_403',
      retryable: false,
    })
  })
})

describe('waitFor', () => {
  test('lets the service wait, and asks again when it says', async () => {
    const { client, received, waits } = await clientOf((_request, response, nth) => {
      if (nth === 1) answer(response, 200, JOB, { 'Retry-After': '4' })
      else if (nth === 2) answer(response, 200, JOB, { 'Retry-After': '4', 'Preference-Applied': 'wait=20' })
      else if (nth === 3) response.destroy()
      else answer(response, 200, DONE)
    })
    const seen: string[] = []
    await expect(client.waitFor('img_1', { onUpdate: ({ status }) => seen.push(status) })).resolves.toEqual(
      DONE,
    )
    expect(received.every(({ headers }) => headers.prefer === 'wait=20')).toBe(true)
    expect(waits).toEqual([4_000, 0, 250])
    expect(seen).toEqual(['QUEUED', 'QUEUED', 'SUCCEEDED'])
  })

  test('ends when the job is gone', async () => {
    const { client } = await clientOf((_request, response) => problem(response, 410, 'gone'))
    await expect(client.waitFor('img_1')).rejects.toMatchObject({ code: 'gone' })
  })

  test('ends with the signal', async () => {
    const stop = new AbortController()
    const { client } = await clientOf((_request, response, nth) => {
      if (nth === 3) stop.abort(new Error('enough'))
      answer(response, 200, JOB)
    })
    await expect(client.waitFor('img_1', { signal: stop.signal })).rejects.toThrow('enough')
  })
})

describe('download', () => {
  test('fetches the whole image again when it breaks off', async () => {
    const { client } = await clientOf((_request, response, nth) => {
      response.writeHead(200, { 'Content-Type': 'image/jpeg', 'Content-Length': '6' })
      if (nth === 1) response.write('abc', () => response.destroy())
      else response.end('abcdef')
    })
    const blob = await client.downloadThumbnail('img_1')
    expect(await blob.text()).toBe('abcdef')
    expect(blob.type).toBe('image/jpeg')
  })
})

describe('cancel and deleteImage', () => {
  test('understand that the lost try did it', async () => {
    const cancelled = { ...DONE, status: 'FAILED', error: { code: 'cancelled' } }
    const { client } = await clientOf(({ method, url }, response, nth) => {
      if (nth === 1 || nth === 4) response.destroy()
      else if (method === 'GET') answer(response, 200, cancelled)
      else if (url.startsWith('/v1/jobs')) problem(response, 409, 'already_done')
      else problem(response, 410, 'gone')
    })
    await expect(client.cancel('img_1')).resolves.toEqual(cancelled)
    await expect(client.deleteImage('img_1')).resolves.toBeUndefined()
  })

  test('say so when there was nothing to do', async () => {
    const { client } = await clientOf(({ url }, response) =>
      url.startsWith('/v1/jobs') ? problem(response, 409, 'already_done') : problem(response, 410, 'gone'),
    )
    await expect(client.cancel('img_1')).rejects.toMatchObject({ code: 'already_done' })
    await expect(client.deleteImage('img_1')).rejects.toMatchObject({ code: 'gone' })
  })
})

test('list asks for what it is told', async () => {
  const page = { jobs: [], next_cursor: null }
  const { client, received } = await clientOf((_request, response) => answer(response, 200, page))
  const createdAfter = new Date('2026-01-01T00:00:00Z')
  await expect(client.list({ status: 'FAILED', createdAfter, cursor: 'a=', limit: 5 })).resolves.toEqual(page)
  expect(received[0]!.url).toBe(
    '/v1/jobs?status=FAILED&created_after=2026-01-01T00%3A00%3A00.000Z&cursor=a%3D&limit=5',
  )
})

describe('events', () => {
  const event = (id: number, name: string, done = false) =>
    `id: ${id}\ndata: ${JSON.stringify({ job_id: 'img_1', event: name, done })}\n\n`

  test('come each once, over streams that break off, until the job is done', async () => {
    const { client, received } = await clientOf((_request, response, nth) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      // Half an event is none.
      if (nth === 1)
        response.write(`: hello\n\n${event(1, 'accepted')}id: 2\ndata: {"j`, () => response.destroy())
      else response.write(event(2, 'claimed') + event(3, 'succeeded', true))
    })
    const seen: string[] = []
    for await (const { id, event } of client.events('img_1')) seen.push(`${id} ${event}`)
    expect(seen).toEqual(['1 accepted', '2 claimed', '3 succeeded'])
    expect(received.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1'])
  })

  test('end at once when there is none left', async () => {
    const { client } = await clientOf((_request, response) => response.writeHead(204).end())
    for await (const _ of client.events('img_1', { lastEventId: '3' })) expect.unreachable()
  })

  test('of no job are a problem', async () => {
    const { client } = await clientOf((_request, response) => problem(response, 404, 'no_such_job'))
    await expect(client.events('img_1').next()).rejects.toMatchObject({ code: 'no_such_job' })
  })

  test('are given up when the service stays away', async () => {
    const { client, received } = await clientOf((_request, response) => response.destroy())
    await expect(client.events('img_1').next()).rejects.toBeInstanceOf(ConnectionError)
    expect(received).toHaveLength(7)
  })
})
