import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as it arrived by OTLP, with the app that sent it. */
export interface CollectedSpan {
  app: string
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  attributes: Record<string, unknown>
  failed: boolean
}

export interface Collector {
  url: string
  spans: CollectedSpan[]
  close(): void
}

/** Takes traces by OTLP over HTTP, as JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.url === '/v1/traces') spans.push(...spansOf(JSON.parse(body) as Export))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

type Pairs = { key: string; value: Record<string, unknown> }[]

interface Export {
  resourceSpans: {
    resource: { attributes: Pairs }
    scopeSpans: {
      spans: {
        traceId: string
        spanId: string
        parentSpanId?: string
        name: string
        kind: number
        attributes: Pairs
        status?: { code?: number }
      }[]
    }[]
  }[]
}

function spansOf({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const app = String(record(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId = '', name, kind, attributes, status }) => ({
        ...{ app, traceId, spanId, parentSpanId, name, kind },
        attributes: record(attributes),
        failed: status?.code === 2,
      })),
    )
  })
}

function record(pairs: Pairs): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
}
