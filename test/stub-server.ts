import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface StubServer {
  url: string
  /** How many connections are open now, and how many there ever were. */
  open(): number
  accepted(): number
  /** Resolves once somebody connected. */
  connected: Promise<void>
  stop(): Promise<void>
}

/** An HTTP server on a free port of 127.0.0.1 that answers as the test says; without `answer`, never. */
export async function startStubServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void = () => {},
): Promise<StubServer> {
  const sockets = new Set<Socket>()
  let accepted = 0
  const connected = Promise.withResolvers<void>()
  const server = createServer(answer)
  server.on('connection', (socket) => {
    sockets.add(socket)
    accepted++
    socket.on('close', () => sockets.delete(socket))
    connected.resolve()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.size,
    accepted: () => accepted,
    connected: connected.promise,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
