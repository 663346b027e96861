import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  /** Of a database of its own, migrated and empty. */
  url: string
  /** Deletes it, disconnecting whoever is still connected. May be called more than once. */
  drop(): Promise<void>
}

/** Makes a database that nobody else uses: a copy of the run's template. */
export async function createTestDatabase(testServer = inject('testServer')): Promise<TestDatabase> {
  const { adminUrl, template } = testServer
  const name = `${template}_${randomBytes(6).toString('hex')}`
  await asAdmin(adminUrl, (client) => copyDatabase(client, template, name))
  return {
    url: databaseUrl(adminUrl, name),
    drop: () =>
      asAdmin(adminUrl, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      }),
  }
}

/** The URL of another database on the same server, its parameters kept. */
export function databaseUrl(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

/** Runs `work` on a connection of its own. */
export async function asAdmin<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 50_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function copyDatabase(client: pg.Client, template: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
      return
    } catch (error) {
      // Nobody may connect to the template, but the server's own vacuum does.
      if ((error as { code?: string }).code !== OBJECT_IN_USE || attempt >= 10) throw error
      await delay(100 * attempt)
    }
  }
}

const OBJECT_IN_USE = '55006'
