import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Acts once, at a statement or a request that passes: before it has any effect, or after, when the caller waits yet. */
export interface Trap {
  /** Matched against the bytes that a client sends, as Latin-1: SQL and HTTP heads can be read in them. */
  pattern: RegExp
  when: 'before' | 'after'
  /** The connection goes silent at that moment: whoever waits for this answer never gets it. */
  act: () => void
}

export interface TcpProxy {
  port: number
  /** Where connections go from now on. */
  aim(port: number): void
  /** Cuts every connection half-open, and the new ones as well: nothing passes, and neither side is told. */
  silence(): void
  /** Resets every connection, and refuses new ones. */
  refuse(): void
  /** New connections pass again. One that was silent stays so: what was lost on it stays lost. */
  heal(): void
  /** Sets a trap; returns how to take it back. */
  set(trap: Trap): () => void
  close(): Promise<void>
}

interface Connection {
  client: Socket
  upstream: Socket | null
  silent: boolean
  /** Sprung when the answer comes. */
  sprung: Trap | null
}

/** Stands between one process and one service, on a free port of 127.0.0.1. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let target = targetPort
  let mode: 'open' | 'silent' | 'refusing' = 'open'
  const connections = new Set<Connection>()
  const traps = new Set<Trap>()

  const server = createServer((client) => {
    client.on('error', () => {})
    if (mode === 'refusing') {
      client.resetAndDestroy()
      return
    }
    const connection: Connection = { client, upstream: null, silent: mode === 'silent', sprung: null }
    connections.add(connection)
    client.on('close', () => {
      if (connection.silent) forget(connection)
      else {
        connection.upstream?.destroy()
        connections.delete(connection)
      }
    })
    client.on('data', (chunk) => fromClient(connection, chunk))
    if (!connection.silent) connection.upstream = open(connection)
  })

  function open(connection: Connection): Socket {
    const { client } = connection
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    upstream.on('error', () => {})
    upstream.on('data', (chunk) => fromUpstream(connection, chunk))
    upstream.on('close', () => {
      if (!connection.silent) client.destroy()
    })
    return upstream
  }

  function fromClient(connection: Connection, chunk: Buffer): void {
    if (connection.silent) return
    const text = traps.size > 0 ? chunk.toString('latin1') : ''
    const trap = [...traps].find(({ pattern }) => pattern.test(text))
    if (trap) traps.delete(trap)
    if (trap?.when === 'before') spring(connection, trap)
    else {
      connection.sprung = trap ?? connection.sprung
      connection.upstream?.write(chunk)
    }
  }

  function fromUpstream(connection: Connection, chunk: Buffer): void {
    if (connection.silent) return
    const { client, sprung } = connection
    if (!sprung) client.write(chunk)
    else if (isAnswer(chunk)) spring(connection, sprung)
  }

  function spring(connection: Connection, trap: Trap): void {
    connection.silent = true
    trap.act()
  }

  /** The other side of a connection that was cut notices nothing, until its own timeouts end it. */
  function forget(connection: Connection): void {
    const timer = setTimeout(() => {
      connection.upstream?.destroy()
      connections.delete(connection)
    }, HALF_OPEN_MS)
    timer.unref()
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    aim(port) {
      target = port
    },
    silence() {
      mode = 'silent'
      for (const connection of connections) connection.silent = true
    },
    refuse() {
      mode = 'refusing'
      for (const { client } of connections) client.resetAndDestroy()
    },
    heal() {
      mode = 'open'
    },
    set(trap) {
      traps.add(trap)
      return () => traps.delete(trap)
    },
    close() {
      for (const { client, upstream } of connections) {
        client.destroy()
        upstream?.destroy()
      }
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const HALF_OPEN_MS = 15_000

/**
 * A statement has committed once Postgres is ready for the next one (ReadyForQuery, its last message); a request has had
 * its effect once its answer begins.
 */
function isAnswer(chunk: Buffer): boolean {
  return chunk.subarray(0, 5).toString('latin1') === 'HTTP/' || chunk.subarray(-6, -1).equals(READY_FOR_QUERY)
}

const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5])
