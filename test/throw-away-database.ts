import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { migrateToLatest } from '../db/migrate.ts'
import { startPostgres } from '../infra/embedded/postgres.ts'

/** A Postgres for one command, its database migrated; nothing is left of it once it was stopped. */
export async function startThrowAwayDatabase(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'img42-throw-away-'))
  // As root, Postgres runs as another user, who has to get in.
  chmodSync(dataDir, 0o755)
  const settings = { fsync: 'off' }
  const { url, stop } = await startPostgres({ dataDir, log: () => {}, settings, throwAway: true })
  await migrateToLatest(url)
  return { url, stop }
}
