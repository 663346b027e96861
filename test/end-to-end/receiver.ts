import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from './stack.ts'

/** A callback as it arrived. */
export interface Message {
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** Answers it, where nothing else does. */
  answer(status: number): void
}

export interface Receiver {
  url: string
  /** Everything that came, answered or not. */
  messages: Message[]
  /** The first `count` messages to the path, once they are there. */
  received(path: string, count?: number): Promise<Message[]>
  close(): void
}

/** A receiver of callbacks on loopback. `status` says what it answers; null: nothing, until {@link Message.answer}. */
export async function startReceiver(
  status: (path: string, nth: number) => number | null = () => 200,
): Promise<Receiver> {
  const messages: Message[] = []
  const server = createServer(async (request, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const path = request.url ?? ''
    const answer = (code: number) => void response.writeHead(code).end()
    const nth = messages.filter((message) => message.path === path).length + 1
    messages.push({ path, headers: request.headers, body, answer })
    const code = status(path, nth)
    if (code !== null) answer(code)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    received: (path, count = 1) =>
      until(async () => {
        const found = messages.filter((message) => message.path === path)
        return found.length >= count && found
      }),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
