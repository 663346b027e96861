import { Kysely, PostgresDialect } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import pg from 'pg'
import * as jobs from './migrations/0001-jobs.ts'
import * as queueMessages from './migrations/0002-queue-messages.ts'
import * as tenants from './migrations/0003-tenants.ts'
import * as callbacks from './migrations/0004-callbacks.ts'
import * as listing from './migrations/0005-listing.ts'
import * as presets from './migrations/0006-presets.ts'

/** Every migration, in order. One that was released never changes. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-jobs': jobs,
  '0002-queue-messages': queueMessages,
  '0003-tenants': tenants,
  '0004-callbacks': callbacks,
  '0005-listing': listing,
  '0006-presets': presets,
}

/**
 * Brings the database to this version's schema. Any number of processes may do so at once: one does the work, the
 * others wait for it (an advisory lock of Kysely's). Takes as long as it takes, hence a pool without deadlines.
 *
 * @throws when a migration fails; its transaction is rolled back, and the ones before it stay
 */
export async function migrateToLatest(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, application_name: 'img42-migrate' })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
    const { error } = await migrator.migrateToLatest()
    if (error) throw error
  } finally {
    await db.destroy()
  }
}

if (import.meta.main) {
  try {
    const url = process.env.DATABASE_URL
    if (!url) throw new Error('DATABASE_URL is missing.')
    if (!/^postgres(ql)?:\/\//.test(url)) throw new Error('DATABASE_URL has to begin with postgres://')
    await migrateToLatest(url)
  } catch (error) {
    console.error(`img42 migrate: ${(error as Error).message}`)
    process.exit(1)
  }
}
