import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import type { Database } from './schema.ts'

/** No connection could be had: the statement was never sent. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super((cause as Error).message, { cause })
    this.name = 'NotConnected'
  }
}

export interface DatabaseOptions {
  /** Connections at most. */
  max: number
  /** The deadline of one statement, and of getting a connection. */
  callMs: number
  /** Shown in `pg_stat_activity`. */
  application: string
}

/** Opens a pool; connects when first asked. Errors of idle connections are swallowed: the next call sees its own. */
export function openDatabase(url: string, { max, callMs, application }: DatabaseOptions): Kysely<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: callMs,
    // The server gives up a little before the client, so that a slow statement ends on both sides.
    statement_timeout: Math.max(1, callMs - 250),
    query_timeout: callMs,
    idle_in_transaction_session_timeout: callMs * 2,
    keepAlive: true,
    application_name: application,
  })
  pool.on('error', () => {})
  // Between two listeners, the pool's and its user's, a connection has none: the server's last word may stand in the packet
  // that made it ready, and an error that nobody hears ends the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: distrustful(pool) }) })
  pools.set(db, pool)
  return db
}

/** The pool behind each database that was opened, which Kysely keeps to itself. */
const pools = new WeakMap<Kysely<Database>, pg.Pool>()

export interface Connections {
  inUse: number
  idle: number
  /** Statements that wait for one. */
  waiting: number
  max: number
}

/** How the connections of a database of {@link openDatabase} stand at this moment. */
export function countConnections(db: Kysely<Database>): Connections {
  const pool = pools.get(db)
  if (!pool) throw new TypeError('this database was not opened by openDatabase')
  const { totalCount, idleCount: idle, waitingCount: waiting, options } = pool
  return { inUse: totalCount - idle, idle, waiting, max: options.max }
}

/**
 * A pool that gives a connection up once a statement on it failed without an answer of the server. After a client-side
 * timeout the answer may still come, and the next user of the connection would take it for its own.
 *
 * The pool listens for the errors of idle connections alone. One that is lost while it is in use fails its statement
 * and emits the error as well: with nobody to hear it, it would end the process.
 */
function distrustful(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw new NotConnected(error)
      })
      let broken = false
      const onLost = () => {
        broken = true
      }
      client.on('error', onLost)
      const query = async (sql: string, parameters: readonly unknown[]) => {
        try {
          return await client.query(sql, parameters as unknown[])
        } catch (error) {
          if (!(error instanceof pg.DatabaseError)) broken = true
          throw error
        }
      }
      const release = () => {
        client.release(broken)
        client.removeListener('error', onLost)
      }
      return { query: query as unknown as PostgresPoolClient['query'], release }
    },
  }
}
