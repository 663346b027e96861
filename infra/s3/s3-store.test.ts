import { readdir, readlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import { type StubServer, startStubServer } from '../../test/stub-server.ts'
import { createS3Client } from './client.ts'
import { createS3Store } from './s3-store.ts'

const SECRET = 'not-to-be-told'
process.env.AWS_REGION ||= 'us-east-1'
process.env.AWS_ACCESS_KEY_ID = 'AKIDTEST'
process.env.AWS_SECRET_ACCESS_KEY = SECRET

const LONG = AbortSignal.timeout(60_000)
const KEY = 'outputs/img_1/thumbnail@sharp-0.35.5'

/** What every store of the port does is in test/conformance; here S3 answers as no emulator does. */
describe('the object store on S3', () => {
  let server: StubServer | undefined
  afterEach(() => server?.stop())

  const storeAt = (endpointUrl: string) => createS3Store(createS3Client(endpointUrl), 'bucket')

  const put = (
    store: ObjectStore,
    body: AsyncIterable<Uint8Array> | Uint8Array,
    bytes?: number,
    signal = LONG,
  ) =>
    store.put({ key: KEY, body, contentType: 'image/png', ...(bytes === undefined ? {} : { bytes }) }, signal)

  /** A store whose S3 answers each request alike, and what it was asked. */
  async function storeAnswering(status: number, xml: string) {
    const requests: { method: string; url: string; body: string }[] = []
    server = await startStubServer(async (request, response) => {
      const chunks = await request.toArray()
      const { method, url } = request
      requests.push({ method: method!, url: url!, body: Buffer.concat(chunks).toString() })
      response.writeHead(status, { 'content-type': 'application/xml' }).end(xml)
    })
    return { store: storeAt(server.url), requests }
  }

  const error = (code: string) =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>the reason</Message></Error>`

  it('reaches the bucket by its path at an endpoint, and streams a body as it is', async () => {
    const { store, requests } = await storeAnswering(200, '')
    await put(store, chunksOf('hello'), 5)
    expect(requests).toMatchObject([
      { method: 'PUT', url: '/bucket/outputs/img_1/thumbnail%40sharp-0.35.5?x-id=PutObject', body: 'hello' },
    ])
  })

  it.each([
    [404, 'NoSuchBucket'],
    [403, 'AccessDenied'],
    [400, 'ExpiredToken'],
    [503, 'SlowDown'],
    [500, 'InternalError'],
  ])('calls status %i with %s the store’s failure, and tells no secret', async (status, code) => {
    const { store } = await storeAnswering(status, error(code))
    const calls = [
      put(store, Buffer.from('x')),
      put(store, chunksOf('x'), 1),
      put(store, chunksOf('x')),
      store.get(KEY, {}, LONG),
      store.delete([KEY], LONG),
      store.list({ prefix: '' }, LONG),
    ]
    for (const outcome of await Promise.allSettled(calls)) {
      const failure = outcome.status === 'rejected' ? outcome.reason : null
      expect(failure).toBeInstanceOf(DependencyError)
      expect(failure).toMatchObject({ dependency: 'object_store', message: expect.stringContaining(code) })
      const told = inspect(failure, { depth: 20, showHidden: true })
      expect(told).not.toMatch(new RegExp(`${SECRET}|AKIDTEST|authorization`, 'i'))
    }
  })

  it.each([
    ['NoSuchKey', error('NoSuchKey')],
    ['no code', ''],
  ])('answers null to a get of what S3 does not have, with %s', async (_, xml) => {
    const { store } = await storeAnswering(404, xml)
    expect(await store.get(KEY, {}, LONG)).toBeNull()
  })

  it('names the keys that S3 could not delete', async () => {
    const { store } = await storeAnswering(
      200,
      `<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code></Error>
        <Error><Key>b</Key><Code>InternalError</Code></Error></DeleteResult>`,
    )
    await expect(store.delete(['a', 'b', 'c'], LONG)).rejects.toThrow(
      'DeleteObjects left a (AccessDenied), b (InternalError)',
    )
  })

  it('deletes more than a thousand in several requests', async () => {
    const { store, requests } = await storeAnswering(200, '<DeleteResult/>')
    await store.delete(
      Array.from({ length: 2_001 }, (_, i) => `key-${i}`),
      LONG,
    )
    const counts = requests.map(({ body }) => body.match(/<Object>/g)?.length)
    expect(counts).toEqual([1_000, 1_000, 1])
  })

  it('reads a stream once, tries it no second time and says nothing about it on the console', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    const { store, requests } = await storeAnswering(503, error('SlowDown'))
    await expect(put(store, chunksOf('once'), 4)).rejects.toThrow(DependencyError)
    expect(requests.length).toBe(1)
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })

  it('tries bytes again', async () => {
    const { store, requests } = await storeAnswering(503, error('SlowDown'))
    await expect(put(store, Buffer.from('again'))).rejects.toThrow(DependencyError)
    expect(requests.length).toBe(3)
  })

  it('lets go of the body when S3 refuses it amid the upload', async () => {
    server = await startStubServer((request, response) => {
      request.once('data', () => response.writeHead(403, { connection: 'close' }).end(error('AccessDenied')))
    })
    let left = false
    async function* endless() {
      try {
        while (true) {
          yield Buffer.alloc(10_000)
          await turn()
        }
      } finally {
        left = true
      }
    }
    await expect(put(storeAt(server.url), endless(), 5_000_000_000)).rejects.toThrow(DependencyError)
    await vi.waitUntil(() => left)
  })

  describe('while a server hangs', () => {
    const reason = new Error('enough')
    async function* hanging(bytes: number) {
      yield Buffer.alloc(bytes)
      await new Promise(() => {})
    }

    it.each<[string, (store: ObjectStore, signal: AbortSignal) => Promise<unknown>]>([
      ['a put of bytes', (store, signal) => put(store, Buffer.alloc(100_000), undefined, signal)],
      ['a put of a stream', (store, signal) => put(store, chunksOf('x'.repeat(100_000)), 100_000, signal)],
      ['a put that hangs itself', (store, signal) => put(store, hanging(100_000), 200_000, signal)],
      ['a large put', (store, signal) => put(store, hanging(5_000_000), 50_000_000, signal)],
      ['a put of unknown length', (store, signal) => put(store, chunksOf('x'), undefined, signal)],
      ['a get', (store, signal) => store.get(KEY, {}, signal)],
      ['a delete', (store, signal) => store.delete([KEY], signal)],
      ['a list', (store, signal) => store.list({ prefix: '' }, signal)],
    ])('%s rejects with the signal’s reason and leaves no connection', async (_, call) => {
      server = await startStubServer()
      const { connected, url, open } = server
      const abort = new AbortController()
      const outcome = call(storeAt(url), abort.signal)
      connected.then(() => abort.abort(reason))
      await expect(outcome).rejects.toBe(reason)
      await vi.waitUntil(() => open() === 0)
      await expect.poll(spoolFiles).toEqual([])
    })

    it('a body that stops half-way ends with the signal’s reason and leaves no connection', async () => {
      server = await startStubServer((_request, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('half')
      })
      const abort = new AbortController()
      const object = (await storeAt(server.url).get(KEY, {}, abort.signal))!
      object.body.once('data', () => abort.abort(reason))
      await expect(object.body.toArray()).rejects.toBe(reason)
      const { open } = server
      await vi.waitUntil(() => open() === 0)
    })

    it('a body that its reader destroys leaves no connection', async () => {
      server = await startStubServer((_request, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('half')
      })
      const object = (await storeAt(server.url).get(KEY, {}, LONG))!
      object.body.destroy()
      const { open } = server
      await vi.waitUntil(() => open() === 0)
    })
  })

  it('calls a body that breaks off the store’s failure', async () => {
    server = await startStubServer((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('half', () => response.destroy())
    })
    const object = (await storeAt(server.url).get(KEY, {}, LONG))!
    await expect(object.body.toArray()).rejects.toThrow(DependencyError)
  })

  it('keeps a connection for the next call', async () => {
    const { store } = await storeAnswering(200, '<ListBucketResult/>')
    for (let calls = 0; calls < 5; calls++) await store.list({ prefix: '' }, LONG)
    expect(server!.accepted()).toBe(1)
  })
})

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** The spool files that this process has open or left, as far as the system tells. */
async function spoolFiles(): Promise<string[]> {
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(`img42-spool-${process.pid}-`))
  if (process.platform !== 'linux') return left
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  const open = (await Promise.all(links)).filter((file) =>
    file.startsWith(path.join(tmpdir(), 'img42-spool-')),
  )
  return [...left, ...open]
}
