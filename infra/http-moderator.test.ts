import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { DependencyError, WorkError } from '../core/errors.ts'
import { type StubServer, startStubServer } from '../test/stub-server.ts'
import { createHttpModerator } from './http-moderator.ts'

let server: StubServer
afterEach(() => server.stop())

const PICTURE = { jobId: 'img_1', contentType: 'image/jpeg', body: Buffer.from('a picture') }
const signal = () => AbortSignal.timeout(5_000)

/** A moderator that answers as told. */
async function moderator(answer?: (request: IncomingMessage, response: ServerResponse) => void) {
  server = await startStubServer(answer)
  return createHttpModerator(`${server.url}/judge`)
}

const says = (status: number, body: string) =>
  moderator((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(status, { 'Content-Type': 'application/json' }).end(body))
  })

describe('a moderator behind HTTP', () => {
  it('is sent the picture with its type, under the job’s id', async () => {
    const asked = Promise.withResolvers<{ request: IncomingMessage; body: string }>()
    const { judge } = await moderator(async (request, response) => {
      const body = (await request.toArray()).join('')
      asked.resolve({ request, body })
      response.end('{"verdict":"approved","labels":["cat","sofa"],"more":1}')
    })
    expect(await judge(PICTURE, signal())).toEqual({ verdict: 'approved', labels: ['cat', 'sofa'] })
    const { request, body } = await asked.promise
    expect(request).toMatchObject({ method: 'POST', url: '/judge' })
    expect(request.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '9',
      'idempotency-key': 'img_1',
      accept: 'application/json',
    })
    expect(body).toBe('a picture')
  })

  it('may leave the labels out, and has what it wrote in them made fit to be stored', async () => {
    const { judge } = await says(200, '{"verdict":"rejected"}')
    expect(await judge(PICTURE, signal())).toEqual({ verdict: 'rejected', labels: [] })
    await server.stop()
    const other = await says(200, '{"verdict":"rejected","labels":["a\\u0000b"]}')
    expect(await other.judge(PICTURE, signal())).toEqual({ verdict: 'rejected', labels: ['a b'] })
  })

  it.each([400, 413, 415, 422])(
    'says by a %i that it cannot judge this picture, which is charged',
    async (status) => {
      const { judge } = await says(status, '{}')
      const error = await judge(PICTURE, signal()).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(WorkError)
      expect(error).toMatchObject({
        code: 'moderation_failed',
        message: `the moderator answered ${status} to this picture`,
      })
    },
  )

  it.each([
    ['500', 500, '{"verdict":"approved"}'],
    ['503', 503, ''],
    ['429', 429, ''],
    ['401: its operator’s mistake, or ours', 401, ''],
    ['404', 404, ''],
    ['204, without a verdict', 204, ''],
    ['200 and no JSON', 200, '<html>'],
    ['200 and JSON of another form', 200, '{"verdict":"maybe"}'],
    ['200 and a label that is no text', 200, '{"verdict":"approved","labels":[1]}'],
    [
      '200 and more labels than are kept',
      200,
      JSON.stringify({ verdict: 'approved', labels: Array(51).fill('x') }),
    ],
    ['200 and a longer answer than is read', 200, `{"verdict":"approved","x":"${'x'.repeat(70_000)}"}`],
  ])('fails as a dependency when it answers %s', async (_, status, body) => {
    const { judge } = await says(status, body)
    const error = await judge(PICTURE, signal()).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(DependencyError)
    expect(error).toMatchObject({ dependency: 'moderation' })
  })

  it('is followed nowhere: a redirect is a failure, and its target hears nothing', async () => {
    const target = await startStubServer((_, response) => response.end('{"verdict":"approved"}'))
    try {
      const { judge } = await moderator((request, response) => {
        request.resume()
        response.writeHead(307, { Location: `${target.url}/` }).end()
      })
      await expect(judge(PICTURE, signal())).rejects.toMatchObject({
        dependency: 'moderation',
        message: 'the moderator answered 307',
      })
      expect(target.accepted()).toBe(0)
    } finally {
      await target.stop()
    }
  })

  it('fails as a dependency when nobody listens, without saying where', async () => {
    const { judge } = await moderator()
    const { port } = new URL(server.url)
    await server.stop()
    const error = (await judge(PICTURE, signal()).catch((error: unknown) => error)) as Error
    expect(error).toBeInstanceOf(DependencyError)
    expect(error.message).toBe('the moderator could not be asked')
    expect((error.cause as Error).message).toContain(port)
  })

  it('fails as a dependency when it hangs up in the midst of its answer', async () => {
    const { judge } = await moderator((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'Content-Length': '100' }).write('{')
        response.flushHeaders()
        request.socket.destroySoon()
      })
    })
    await expect(judge(PICTURE, signal())).rejects.toMatchObject({ dependency: 'moderation' })
  })

  it('is let go with the signal’s reason, and its connection closed, when it says nothing', async () => {
    const { judge } = await moderator()
    const stop = new AbortController()
    const judging = judge(PICTURE, stop.signal)
    await server.connected
    stop.abort(new Error('enough'))
    await expect(judging).rejects.toThrow('enough')
    await expect.poll(() => server.open()).toBe(0)
  })

  it('serves a probe when it judges a small picture of its own id, or says that it cannot judge that one', async () => {
    const asked = Promise.withResolvers<IncomingMessage>()
    const { ping } = await moderator((request, response) => {
      asked.resolve(request)
      request.resume().on('end', () => response.end('{"verdict":"rejected"}'))
    })
    await ping(signal())
    expect((await asked.promise).headers).toMatchObject({
      'idempotency-key': 'probe',
      'content-type': 'image/png',
    })
    await server.stop()
    await (await says(422, '')).ping(signal())
  })

  it.each([500, 503, 401, 404, 307])('does not serve a probe when it answers it %i', async (status) => {
    const { ping } = await says(status, '')
    await expect(ping(signal())).rejects.toMatchObject({ dependency: 'moderation' })
  })
})
