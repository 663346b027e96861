import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createReadStream, openSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { FromLauncher, GuardianOrder } from './postgres-guardian.ts'

export interface Launch {
  /** The guardian's order but for the port. */
  order: GuardianOrder
  /** What Postgres says is appended to it. */
  logFile: string
  /** A URL to connect with, for the port that was chosen. */
  urlAt: (port: number) => string
}

/**
 * Starts Postgres under its guardian on a free port of 127.0.0.1 and resolves once it takes connections, however long
 * its recovery takes.
 *
 * @throws with the end of Postgres's log when it ended instead
 */
export async function launch({
  order,
  logFile,
  urlAt,
}: Launch): Promise<{ guardian: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const url = urlAt(port)
    const log = openSync(logFile, 'a')
    const logStart = statSync(logFile).size
    const guardian = spawn(
      process.execPath,
      [
        GUARDIAN,
        JSON.stringify({ ...order, args: [...order.args, '-p', String(port)] } satisfies GuardianOrder),
      ],
      { stdio: ['ignore', log, log, 'ipc'], detached: true, env: {}, cwd: '/' },
    )
    closeSync(log)
    const given = new AbortController()
    const ended = once(guardian, 'exit', { signal: given.signal }).then(
      () => true,
      () => false,
    )
    try {
      if (await Promise.race([takesConnections(url, given.signal), ended.then(() => false)])) {
        guardian.send('ready' satisfies FromLauncher)
        return { guardian, port }
      }
    } catch (error) {
      guardian.disconnect()
      throw error
    } finally {
      given.abort()
    }
    const said = await text(createReadStream(logFile, { start: logStart }))
    if (attempt >= ATTEMPTS || !PASSING.test(said)) {
      const lines = said.trim().split('\n').slice(-5).join(' | ')
      throw new Error(`Postgres did not start. The end of ${logFile}: ${lines}`)
    }
    await delay(100 * attempt)
  }
}

const GUARDIAN = fileURLToPath(new URL('./postgres-guardian.ts', import.meta.url))
const ATTEMPTS = 10

/**
 * What another attempt mends: somebody took the port between our look and Postgres's, or the sessions of a postmaster
 * that was killed are still on their way out.
 */
const PASSING = /Address already in use|could not create any TCP\/IP sockets|pre-existing shared memory block/

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as import('node:net').AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Resolves with true at the first connection, with false when `signal` aborts. */
async function takesConnections(url: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      return true
    } catch (error) {
      const { code } = error as { code?: string }
      // 57P03: starting up, or recovering. A code of Postgres's own, such as 28P01 for a wrong password, stays.
      if (code !== '57P03' && /^[0-9A-Z]{5}$/.test(code ?? '')) throw error
      await delay(25)
    } finally {
      await client.end().catch(() => {})
    }
  }
  return false
}
