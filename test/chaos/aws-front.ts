import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

export interface AwsFront {
  endpointUrl: string
  close(): void
}

/**
 * One endpoint for an app that has one (`AWS_ENDPOINT_URL`), before an SQS and an S3 that fail apart from each other.
 * Keeps its connections, as the SDK does: one that was cut half-open is met again.
 */
export async function startAwsFront(ports: { sqs: number; s3: number }): Promise<AwsFront> {
  const agent = new Agent({ keepAlive: true })
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming
    const port = headers['x-amz-target'] ? ports.sqs : ports.s3
    const outgoing = request({ host: '127.0.0.1', port, method, path: url, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      pipeline(answer, response, () => {})
    })
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    pipeline(incoming, outgoing, () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpointUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}
