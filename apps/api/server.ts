import { createServer, type RequestListener, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { listen } from '../../infra/health.ts'
import { PROBLEM_TYPE, type Problem, problemBody } from './problem.ts'
import { cutUnreadBody } from './unread-body.ts'

export interface RunningServer {
  port: number
  /** Takes no new connection, lets the requests in flight end for up to `drainMs`, then cuts what is left. */
  drain(drainMs: number): Promise<void>
}

/**
 * @param silenceMs how long a connection may stand still in the middle of a request or answer
 * @param headersMs how long a request's headers may take, to a third of it. Defaults to 15 seconds: they come at once or
 *   not at all
 */
export async function serve(
  app: RequestListener,
  {
    host,
    port,
    silenceMs,
    headersMs = 15_000,
  }: { host: string; port: number; silenceMs: number; headersMs?: number },
): Promise<RunningServer> {
  const handle: RequestListener = (request, response) => {
    cutUnreadBody(request, response)
    return app(request, response)
  }
  const server = createServer(
    {
      headersTimeout: headersMs,
      // Uploads take their time, and have limits of their own.
      requestTimeout: 0,
      connectionsCheckingInterval: headersMs / 3,
      // Longer than a load balancer's, which must be the one to close an idle connection: a request that crosses the
      // server's close is lost.
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
      // The app says so itself, as a problem.
      requireHostHeader: false,
    },
    handle,
  )
  server.setTimeout(silenceMs)
  // With its own listener the server does not say 100 Continue by itself: the upload's route does, or refuses.
  server.on('checkContinue', handle).on('checkExpectation', handle)
  server.on('clientError', refuseConnections())
  // A tunnel is asked for. Without a listener the connection would be closed without a word.
  server.on('connect', (_request, socket) => endWithProblem(socket, NO_TUNNEL))
  await listen(server, host, port)

  return {
    port: (server.address() as AddressInfo).port,
    async drain(drainMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const over = new AbortController()
      const timeUp = delay(drainMs, undefined, { signal: over.signal }).catch(() => {})
      // A connection whose last request has ended would be kept alive for the next one.
      const sweep = setInterval(() => server.closeIdleConnections(), 50)
      await Promise.race([closed, timeUp])
      over.abort()
      clearInterval(sweep)
      server.closeAllConnections()
      await closed
    },
  }
}

/** How long a connection that was refused stays open for its answer to be read. */
const LINGER_MS = 2_000

/** What is no HTTP never reaches the app: the problem is written to the socket, which is closed. */
function refuseConnections(): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const refused = new WeakSet<Duplex>()
  return ({ code }, socket) => {
    // Each further piece of what it sends is an error again.
    if (refused.has(socket)) return
    // The answer to an earlier request may be on its way: a second one would be read as part of it.
    const answering = (socket as Duplex & { _httpMessage?: { headersSent: boolean } })._httpMessage
      ?.headersSent
    if (!socket.writable || answering || code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    refused.add(socket)
    endWithProblem(socket, problemOfConnection(code))
  }
}

/** Answers on a connection that has no response, and closes it. */
function endWithProblem(socket: Duplex, problem: Problem): void {
  socket.on('error', () => {})
  const body = problemBody(problem)
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  const closing = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(closing))
}

const NO_TUNNEL: Problem = {
  status: 501,
  code: 'method_not_implemented',
  detail: 'this server is no proxy: it has no CONNECT',
}

function problemOfConnection(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, code: 'headers_too_large', detail: 'the headers are larger than 16 KiB' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, code: 'headers_timeout', detail: 'the headers took too long', retryable: true }
    default:
      return { status: 400, code: 'malformed_request', detail: 'this is not a well-formed HTTP request' }
  }
}
