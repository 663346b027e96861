import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ApiUnderTest, startApi } from '../../apps/api/testing/start-api.ts'

/** Whole seconds would do as well; these are what production has, about ten times shorter. */
const LIMITS = { headersMs: 1_500, idleMs: 1_500 }
const EVERY_MS = 300

let api: ApiUnderTest
beforeEach(async () => {
  api = await startApi(LIMITS)
})
afterEach(() => api.stop())

interface Drip {
  received(): string
  /** Resolves when the server has ended the connection. */
  cut: Promise<void>
}

/** Sends `head` at once, then one byte now and then for as long as the server lets it. */
async function drip(head: string, byte: string): Promise<Drip> {
  const socket: Socket = connect(api.port, '127.0.0.1')
  let received = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  await once(socket, 'connect')
  socket.write(head)
  const dripping = setInterval(() => socket.write(byte), EVERY_MS)
  const cut = new Promise<void>((resolve) => {
    const end = () => {
      clearInterval(dripping)
      socket.destroy()
      resolve()
    }
    socket.once('end', end).once('close', end)
  })
  return { received: () => received, cut }
}

const UPLOAD =
  'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 900000\r\n\r\n\x89PNG\r\n\x1a\n'

describe('a thousand connections that drip', () => {
  it.each([
    ['headers', 'GET /v1/jobs/img_0 HTTP/1.1\r\nHost: a\r\nX-Slow: ', 'x', 'headers_timeout'],
    ['bodies', UPLOAD, 'x', 'upload_too_slow'],
    [
      'bodies in chunks',
      'POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n',
      '1\r\nx\r\n',
      null,
    ],
  ])('their %s keep no health check from its answer, and are all cut', async (_what, head, byte, code) => {
    const drips = await Promise.all(Array.from({ length: 1_000 }, () => drip(head, byte)))
    let cut = false
    const all = Promise.all(drips.map((each) => each.cut)).then(() => {
      cut = true
    })
    let checks = 0
    do {
      const response = await fetch(`${api.url}/healthz`, { signal: AbortSignal.timeout(20_000) })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      checks++
    } while (!cut)
    await all
    expect(checks).toBeGreaterThan(1)
    if (code) for (const each of drips) expect(each.received()).toContain(`"code":"${code}"`)
    await api.inFlight.settled()
    expect(await api.keys()).toEqual([])
  })
})

describe('a body that nobody asked for', () => {
  it('is cut a while after the answer, however slowly it goes on', async () => {
    const one = await drip(
      'GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\nConnection: keep-alive\r\n\r\n',
      'x',
    )
    await one.cut
    expect(one.received()).toContain('"alive"')
  })
})
