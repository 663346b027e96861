import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrateToLatest } from '../db/migrate.ts'
import { startPostgres } from '../infra/embedded/postgres.ts'
import { startOnDemand } from './contract/on-demand.ts'
import { startContractStack } from './contract/stack.ts'
import { asAdmin, createTestDatabase, databaseUrl } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where this run's databases are made: an admin's URL, and the migrated database that they are copies of. */
    testServer: { adminUrl: string; template: string }
    /** Answers with the service that the contract's tests share; the first request starts it. */
    contractStack: string
  }
}

/**
 * Gives the run one Postgres, thrown away afterwards (or the one that `DATABASE_URL` names, left as it was found), and
 * in it a migrated template, so that a test's own database is a copy made in milliseconds.
 *
 * @returns the teardown
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer()
  const template = `img42_test_${randomBytes(4).toString('hex')}`
  await asAdmin(server.adminUrl, (client) => client.query(`CREATE DATABASE ${template}`))
  try {
    await migrateToLatest(databaseUrl(server.adminUrl, template))
    // A database that somebody is connected to cannot be copied: so nobody may connect to this one.
    await asAdmin(server.adminUrl, (client) =>
      client.query(`ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`),
    )
  } catch (error) {
    await server.stop(template)
    throw error
  }
  const testServer = { adminUrl: server.adminUrl, template }
  const contractStack = await startOnDemand(async () => {
    const { url } = await createTestDatabase(testServer)
    return startContractStack(url)
  })
  project.provide('testServer', testServer)
  project.provide('contractStack', contractStack.url)
  return async () => {
    await contractStack.stop()
    await server.stop(template)
  }
}

interface Server {
  adminUrl: string
  /** Leaves nothing of the run behind: neither its template nor what was copied from it. */
  stop(template: string): Promise<void>
}

async function startServer(): Promise<Server> {
  const given = process.env.DATABASE_URL
  if (given) return { adminUrl: given, stop: (template) => dropDatabases(given, template) }
  const dataDir = mkdtempSync(path.join(tmpdir(), 'img42-test-'))
  // As root, Postgres runs as another user, who has to get in.
  chmodSync(dataDir, 0o755)
  const { url, stop } = await startPostgres({
    dataDir,
    log: () => {},
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
    throwAway: true,
  })
  return { adminUrl: url, stop }
}

async function dropDatabases(adminUrl: string, prefix: string): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
      [prefix],
    )
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
  })
}
