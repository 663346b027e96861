import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A call of SQS or S3 as it passes. */
export interface Call {
  /** `SQS SendMessageBatch`, `S3 PUT originals/img_…`: the service, the action, and for S3 the key. */
  name: string
  body: Buffer
}

/** What a rule does with a call. */
export interface Passage {
  call: Call
  /** Lets the call have its effect and returns the answer, which the caller has not seen yet. */
  forward(): Promise<Answer>
}

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

/** Returns what the caller is answered, or null to leave it without an answer. */
export type Rule = (passage: Passage) => Promise<Answer | null>

export interface Interceptor {
  endpointUrl: string
  /** Every call whose name matches goes through the rule, the newest rule first; returns how to take it back. */
  on(pattern: RegExp, rule: Rule): () => void
  /** The names of the calls so far, in the order of their arrival. */
  calls: string[]
  close(): void
}

/**
 * Stands between the apps and SQS and S3, so that a test can act at an exact point of the protocol: after a call had its
 * effect and before the caller hears of it, or before it has any. The production code knows nothing of it.
 */
export async function startInterceptor(upstream: string): Promise<Interceptor> {
  const rules = new Set<{ pattern: RegExp; rule: Rule }>()
  const calls: string[] = []

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const name = nameOf(incoming)
    calls.push(name)
    const forward = () => pass(upstream, incoming, body)
    const match = [...rules].reverse().find(({ pattern }) => pattern.test(name))
    const answer = match ? await match.rule({ call: { name, body }, forward }) : await forward()
    if (!answer) return
    const { connection: _c, 'transfer-encoding': _t, ...headers } = answer.headers
    response.writeHead(answer.status, {
      ...headers,
      'content-length': answer.headers['content-length'] ?? answer.body.length,
    })
    response.end(incoming.method === 'HEAD' ? undefined : answer.body)
  }

  const server = createServer((incoming, response) => {
    // A caller that was killed meanwhile is what most rules are for.
    handle(incoming, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpointUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    on(pattern, rule) {
      const entry = { pattern, rule }
      rules.add(entry)
      return () => rules.delete(entry)
    },
    calls,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** As AWS answers when it has no capacity. */
export function unavailable(): Answer {
  return {
    status: 503,
    headers: { 'content-type': 'application/xml' },
    body: Buffer.from('<Error><Code>SlowDown</Code></Error>'),
  }
}

function nameOf({ method, url = '', headers }: IncomingMessage): string {
  const target = headers['x-amz-target']
  if (target) return `SQS ${String(target).replace('AmazonSQS.', '')}`
  const { pathname, searchParams } = new URL(url, 'http://interceptor')
  const [, , ...key] = decodeURIComponent(pathname).split('/')
  return `S3 ${searchParams.has('list-type') ? 'LIST' : method} ${key.join('/')}`
}

function pass(upstream: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // The host header stays as it was signed.
    const outgoing = request(new URL(url ?? '/', upstream), { method, headers }, async (incoming) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      resolve({ status: incoming.statusCode ?? 500, headers: incoming.headers, body: Buffer.concat(chunks) })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
