import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import type { Home } from './postgres-home.ts'

/** The cluster's superuser, and the owner of everything in it. */
export const USER = 'img42'

/** The cluster's password, kept in `<dataDir>/postgres-password`, which only this user reads. Made if it is missing. */
export function readPassword(dataDir: string): string {
  const file = path.join(dataDir, 'postgres-password')
  if (!existsSync(file)) {
    const unfinished = `${file}.new`
    writeFileSync(unfinished, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
    renameSync(unfinished, file)
  }
  return readFileSync(file, 'utf8').trim()
}

/**
 * Makes the cluster `<home>/data`: UTF-8, locale C, passwords asked of everybody. It appears complete or not at all.
 * Needs the data directory's lock.
 *
 * @throws with what initdb said
 */
export async function makeCluster({
  home,
  initdb,
  password,
  durable,
}: {
  home: Home
  initdb: string
  password: string
  durable: boolean
}): Promise<void> {
  // What an initdb that was killed has left.
  for (const name of readdirSync(home.folder)) {
    if (name.startsWith(UNFINISHED)) rmSync(path.join(home.folder, name), { recursive: true, force: true })
  }
  const unfinished = path.join(home.folder, `${UNFINISHED}${randomBytes(4).toString('hex')}`)
  const passwordFile = `${unfinished}.password`
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (home.account) chownSync(passwordFile, home.account.uid, home.account.gid)
  try {
    const child = spawn(
      initdb,
      [
        ...['--pgdata', unfinished, '--username', USER, '--pwfile', passwordFile],
        ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C', '--no-instructions'],
        ...(durable ? [] : ['--no-sync']),
      ],
      { ...home.account, cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', resolve)
    })
    const [code, said] = await Promise.all([exited, text(child.stderr)])
    if (code !== 0)
      throw new Error(`initdb could not make the database: ${said.trim().replaceAll('\n', ' ')}`)
    renameSync(unfinished, path.join(home.folder, 'data'))
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

const UNFINISHED = 'data.new-'

/** Makes the database if it is missing. */
export function makeDatabase(adminUrl: string, name: string): Promise<void> {
  return asAdmin(adminUrl, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`)
  })
}

/** Deletes the database if there is one, disconnecting whoever is connected. */
export function dropDatabase(adminUrl: string, name: string): Promise<void> {
  return asAdmin(adminUrl, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`)
  })
}

async function asAdmin(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
