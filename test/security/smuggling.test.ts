import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRaw } from '../../apps/api/testing/raw-http.ts'
import { type ApiUnderTest, startApi } from '../../apps/api/testing/start-api.ts'

let api: ApiUnderTest
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const post = (...headers: string[]) =>
  `${['POST /v1/images HTTP/1.1', 'Host: a', 'Content-Type: image/png', ...headers].join('\r\n')}\r\n\r\n`
/** What a proxy that read the first request otherwise would take for a second one. */
const SMUGGLED = '0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'

describe('a request whose end two servers would see at different places', () => {
  it.each([
    ['a length and chunks', post('Content-Length: 4', 'Transfer-Encoding: chunked')],
    ['chunks and a length', post('Transfer-Encoding: chunked', 'Content-Length: 4')],
    ['two lengths', post('Content-Length: 4', 'Content-Length: 5')],
    ['two lengths in one', post('Content-Length: 4, 5')],
    ['a signed length', post('Content-Length: +4')],
    ['a hexadecimal length', post('Content-Length: 0x4')],
    ['a negative length', post('Content-Length: -1')],
    ['a length with a space in it', post('Content-Length: 4 5')],
    ['chunks that are not the last coding', post('Transfer-Encoding: chunked, identity')],
    [
      'a coding that ends in chunks, twice',
      post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked', 'Content-Length: 4'),
    ],
    ['a space before the colon', post('Content-Length : 4')],
    ['a header that goes on in the next line', post('X: a', ' Content-Length: 4')],
    ['line ends without their carriage returns', post('Content-Length: 4').replaceAll('\r\n', '\n')],
    ['a null byte in a header', post('X: a\0b')],
  ])('(%s) is answered 400 once, and the connection is closed', async (_what, head) => {
    const connection = await openRaw(api.port)
    connection.write(head)
    connection.write(SMUGGLED)
    const { received } = await connection.closed()
    expect(received).toMatch(/^HTTP\/1\.1 400 /)
    expect(received).toContain('Connection: close')
    expect(received).toContain('application/problem+json')
    expect(received.split('HTTP/1.1 ')).toHaveLength(2)
    expect(received).not.toContain('alive')
  })

  it.each([
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'host_missing'],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'host_missing'],
    [
      'a tunnel',
      'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
      501,
      'method_not_implemented',
    ],
  ])(
    '(%s) is answered with a problem, and the connection is closed',
    async (_what, request, status, code) => {
      const connection = await openRaw(api.port)
      connection.write(request)
      const { received } = await connection.closed()
      expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(received).toContain('application/problem+json')
      expect(received).toContain(`"code":"${code}"`)
    },
  )

  it('leaves the server as it was: HTTP/1.0 needs no Host', async () => {
    const connection = await openRaw(api.port)
    connection.write('GET /healthz HTTP/1.0\r\n\r\n')
    expect((await connection.closed()).received).toMatch(/^HTTP\/1\.1 200 /)
  })
})
