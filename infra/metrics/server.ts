import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { listen } from '../health.ts'

/**
 * Serves `GET /metrics` and nothing else, on a port of its own: what the API publishes to the world never has it.
 *
 * @throws a sentence that names METRICS_PORT when the port cannot be had
 */
export async function serveMetrics(
  host: string,
  port: number,
  registry: Registry,
): Promise<{ port: number; close(): void }> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    } else {
      const text = await registry.metrics()
      response.writeHead(200, { 'content-type': registry.contentType, 'cache-control': 'no-store' }).end(text)
    }
  })
  await listen(server, host, port, 'METRICS_PORT')
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
