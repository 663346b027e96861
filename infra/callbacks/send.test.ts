import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import https from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { ALLOW_NOTHING, parseCallbackAllow } from '../../core/callback-address.ts'
import { createSendCallback, type SendOptions } from './send.ts'
import { CERTIFICATE, KEY } from './testing/hooks-example.ts'

const LOOPBACK = parseCallbackAllow('127.0.0.0/8')!

const servers: { close(): unknown; closeAllConnections?(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections?.()
  }
})

/** A receiver on loopback, and what it was sent. */
async function startReceiver(answer: RequestListener = (_, response) => response.end(), host = '127.0.0.1') {
  const received: { request: IncomingMessage; at: string | undefined; body: string }[] = []
  const server: Server = createServer(async (request, response) => {
    const at = request.socket.localAddress
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ request, at, body })
    answer(request, response)
  })
  servers.push(server)
  await once(server.listen(0, host), 'listening')
  return { port: (server.address() as AddressInfo).port, received }
}

const send = (url: string, options: Partial<SendOptions> = {}, body = '{}') =>
  createSendCallback({ allow: LOOPBACK, ...options })({ url, headers: { 'webhook-id': 'msg_1' }, body })

const failed = (error: string) => ({ kind: 'failed', error })

describe('a callback', () => {
  it('is a POST of its body and headers', async () => {
    const { port, received } = await startReceiver()
    expect(await send(`http://127.0.0.1:${port}/path?a=b`, {}, '{"é":1}')).toEqual({
      ...{ kind: 'answered', statusCode: 200, retryAfterMs: null },
    })
    expect(received).toHaveLength(1)
    const [{ request, body }] = received as [(typeof received)[number]]
    expect([request.method, request.url, body]).toEqual(['POST', '/path?a=b', '{"é":1}'])
    expect(request.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'content-type': 'application/json',
      'content-length': '8',
      'webhook-id': 'msg_1',
    })
  })

  it('does not follow a redirection', async () => {
    const target = await startReceiver()
    const { port } = await startReceiver((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end()
    })
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'answered', statusCode: 307 })
    expect(target.received).toEqual([])
  })

  it('tells how long the receiver wants to be left alone', async () => {
    const { port } = await startReceiver((_, response) => {
      response.writeHead(503, { 'retry-after': '120' }).end()
    })
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({
      ...{ kind: 'answered', statusCode: 503, retryAfterMs: 120_000 },
    })
  })

  it('fails after its deadline, wherever the receiver keeps it', async () => {
    const silent = createTcpServer(() => {})
    servers.push(silent)
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { port } = silent.address() as AddressInfo
    expect(await send(`http://127.0.0.1:${port}/`, { timeoutMs: 100 })).toEqual(failed('timeout'))
    const never = () => new Promise<string[]>(() => {})
    expect(await send('https://hooks.example/', { timeoutMs: 100, resolve: never })).toEqual(
      failed('timeout'),
    )
  })

  it('counts as answered once the status is here, however long the rest of the answer is', async () => {
    const { port } = await startReceiver((_, response) => {
      response.writeHead(200)
      const more = () => response.write(Buffer.alloc(65_536)) && setImmediate(more)
      response.on('drain', more)
      more()
    })
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'answered', statusCode: 200 })
  })

  it('counts as answered once the status is here, however slow the rest of the answer is', async () => {
    const { port } = await startReceiver((_, response) => {
      response.writeHead(202)
      response.write('x')
    })
    expect(await send(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })).toMatchObject({ statusCode: 202 })
  })

  it('fails when no request can be made of it', async () => {
    expect(await send('no URL')).toEqual(failed('connection_lost'))
  })

  it('fails with a word for what went wrong', async () => {
    const { port } = await startReceiver((request) => request.socket.destroy())
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual(failed('connection_lost'))
    expect(await send(`https://127.0.0.1:${port}/`)).toEqual(failed('tls_failed'))
    const closed = createServer()
    await once(closed.listen(0, '127.0.0.1'), 'listening')
    const { port: free } = closed.address() as AddressInfo
    await once(closed.close(), 'close')
    expect(await send(`http://127.0.0.1:${free}/`)).toEqual(failed('connection_refused'))
    const unknown = () => Promise.reject(new Error('ENOTFOUND'))
    expect(await send('https://hooks.example/', { resolve: unknown })).toEqual(failed('name_unknown'))
    const garbage = createTcpServer((socket) => socket.end('no HTTP\r\n\r\n'))
    servers.push(garbage)
    await once(garbage.listen(0, '127.0.0.1'), 'listening')
    expect(await send(`http://127.0.0.1:${(garbage.address() as AddressInfo).port}/`)).toEqual(
      failed('malformed_answer'),
    )
  })
})

describe('a receiver with TLS', () => {
  const trusted = tls.getCACertificates?.() ?? []
  afterEach(() => tls.setDefaultCACertificates?.(trusted))
  const resolve = async () => ['127.0.0.1']

  async function startTlsReceiver() {
    const names: (string | false)[] = []
    const server = https.createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
      names.push((request.socket as tls.TLSSocket).servername ?? false)
      request.resume()
      response.end()
    })
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return { port: (server.address() as AddressInfo).port, names }
  }

  // Since Node 24.5.
  it.skipIf(!tls.setDefaultCACertificates)(
    'is sent to when its certificate is trusted and of the URL’s name',
    async () => {
      tls.setDefaultCACertificates([CERTIFICATE])
      const { port, names } = await startTlsReceiver()
      expect(await send(`https://hooks.example:${port}/`, { resolve })).toMatchObject({ statusCode: 200 })
      expect(names).toEqual(['hooks.example'])
      expect(await send(`https://others.example:${port}/`, { resolve })).toEqual(failed('tls_failed'))
      expect(names).toHaveLength(1)
    },
  )

  it('is not sent to when nobody vouches for its certificate', async () => {
    const { port, names } = await startTlsReceiver()
    expect(await send(`https://hooks.example:${port}/`, { resolve })).toEqual(failed('tls_failed'))
    expect(names).toEqual([])
  })
})

describe('an address that is not public', () => {
  /** Everything on loopback that a callback must not reach. */
  const refused = (url: string, options: Partial<SendOptions> = {}) =>
    send(url, { allow: ALLOW_NOTHING, ...options })

  it.each([
    ['dotted', '127.0.0.1'],
    ['short', '127.1'],
    ['decimal', '2130706433'],
    ['octal', '0177.0.0.1'],
    ['hexadecimal', '0x7f000001'],
    ['unspecified', '0.0.0.0'],
    ['zero', '0'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 unspecified', '[::]'],
    ['IPv4-mapped', '[::ffff:127.0.0.1]'],
    ['IPv4-compatible', '[::127.0.0.1]'],
    ['NAT64', '[64:ff9b::127.0.0.1]'],
  ])('is not connected to, written %s', async (_, host) => {
    const { port, received } = await startReceiver()
    expect(await refused(`http://${host}:${port}/`)).toEqual(failed('address_refused'))
    expect(received).toEqual([])
  })

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', '64:ff9b::7f00:1'])(
    'is not connected to under a name that leads to %s',
    async (address) => {
      const { port, received } = await startReceiver()
      const resolve = async () => [address]
      expect(await refused(`http://hooks.example:${port}/`, { resolve })).toEqual(failed('address_refused'))
      expect(received).toEqual([])
    },
  )

  it('is not connected to by a name that meant another one before (rebinding)', async () => {
    const { port, received } = await startReceiver()
    const answers = [['127.0.0.2'], ['127.0.0.1']]
    const allow = parseCallbackAllow('127.0.0.1')!
    const resolve = async () => answers.pop()!
    const send = createSendCallback({ allow, resolve })
    const request = { url: `http://hooks.example:${port}/`, headers: {}, body: '{}' }
    expect(await send(request)).toMatchObject({ kind: 'answered', statusCode: 200 })
    expect(await send(request)).toEqual(failed('address_refused'))
    expect(received).toHaveLength(1)
    // Asked once for each connection: there is no second answer that could be another.
    expect(answers).toEqual([])
  })

  it('is left out where a name has others as well', async () => {
    const { port, received } = await startReceiver(undefined, '0.0.0.0')
    const allow = parseCallbackAllow('127.0.0.1')!
    const resolve = async () => ['127.0.0.2', '::1', '127.0.0.1']
    expect(await send(`http://hooks.example:${port}/`, { allow, resolve })).toMatchObject({ statusCode: 200 })
    expect(received.map(({ at }) => at)).toEqual(['127.0.0.1'])
  })

  it('is connected to under a name that is on the list', async () => {
    const { port } = await startReceiver()
    const allow = parseCallbackAllow('hooks.example')!
    const resolve = async () => ['127.0.0.1']
    expect(await send(`http://hooks.example:${port}/`, { allow, resolve })).toMatchObject({ statusCode: 200 })
    expect(await send(`http://others.example:${port}/`, { allow, resolve })).toEqual(
      failed('address_refused'),
    )
  })

  it('is connected to under this machine’s own name for itself only where the list has that name', async () => {
    const { port } = await startReceiver()
    expect(
      await send(`http://localhost:${port}/`, { allow: parseCallbackAllow('localhost')! }),
    ).toMatchObject({
      statusCode: 200,
    })
    const outcome = await send(`http://localhost:${port}/`, { allow: ALLOW_NOTHING })
    expect(outcome).toMatchObject({ kind: 'failed' })
  })
})
