import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a client may go on sending after its answer was sent, before the connection is closed. */
const MAX_BYTES = 1_000_000_000
const MAX_MS = 10_000

/**
 * Ends `response` with `body`. A request whose own body is not read yet gets the whole answer at once, with
 * `Connection: close`, while what it still sends is thrown away for a while. A connection that is closed upon unread
 * bytes is reset, and a client that sends before it reads would see that instead of the answer.
 */
export function letBodyPass(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (!hasUnreadBody(request)) {
    response.end(body)
    return
  }
  response.setHeader('Connection', 'close')
  response.write(body)

  let bytes = 0
  const discard = () => {
    for (let chunk = request.read(); chunk !== null; chunk = request.read()) bytes += chunk.length
    if (bytes > MAX_BYTES) done()
  }
  const done = () => {
    clearTimeout(timer)
    request.off('readable', discard)
    response.end()
  }
  const timer = setTimeout(done, MAX_MS)
  request.once('end', done).once('close', done)
  request.on('readable', discard)
  discard()
}

/**
 * Gives what is still to come of a request's body {@link MAX_MS} from the answer on. Where no route read it, the server
 * throws it away byte by byte, for as long as the client likes to go on.
 */
export function cutUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete) return
    const timer = setTimeout(() => request.socket.destroy(), MAX_MS)
    request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
  })
}

function hasUnreadBody({ headers, complete }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
