import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Health {
  /** Alive: the process does its work. Not that a port answers: a stuck loop has one too. */
  alive(): boolean
  /** Ready: what it depends on answers. Rejects with why not. */
  ready(): Promise<void>
}

/** Serves `/healthz` and `/readyz` for an app that has no HTTP of its own. */
export async function serveHealth(
  host: string,
  port: number,
  health: Health,
): Promise<{ port: number; close(): void }> {
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      response.end(JSON.stringify(body))
    }
    if (request.url === '/healthz') {
      const alive = health.alive()
      answer(alive ? 200 : 503, { status: alive ? 'alive' : 'stuck' })
    } else if (request.url === '/readyz') {
      await health.ready().then(
        () => answer(200, { status: 'ready' }),
        (error: Error) => answer(503, { status: 'not ready', reason: error.message }),
      )
    } else {
      answer(404, { status: 'not found' })
    }
  })
  await listen(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * Resolves when the server listens; rejects with a sentence that names the variable to change.
 *
 * @param variable the one that the port is from
 */
export function listen(server: Server, host: string, port: number, variable = 'PORT'): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new Error(whyNot(error, host, port, variable), { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}

function whyNot(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  port: number,
  variable: string,
): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is taken: set ${variable} to another`
    case 'EACCES':
      return `this user may not listen on port ${port}: set ${variable} to another`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
      return `${host} is no address of this machine: set HOST to one that is`
    default:
      return `HOST ${host} and ${variable} ${port} cannot be listened on: ${message}`
  }
}
