import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Shares what is dear to start among the processes of a test run: answers its address with the JSON of what `start`
 * resolves with, and starts it with the first request.
 */
export async function startOnDemand<T extends { stop(): Promise<void> }>(
  start: () => Promise<T>,
): Promise<{ url: string; stop(): Promise<void> }> {
  let started: Promise<T> | null = null
  const server = createServer(async (_request, response) => {
    started ??= start()
    await started.then(
      (thing) => response.end(JSON.stringify(thing)),
      (error: Error) => response.writeHead(500).end(error.message),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      server.closeAllConnections()
      const thing = await started?.catch(() => null)
      await thing?.stop()
    },
  }
}
