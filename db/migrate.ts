import { Kysely, PostgresDialect } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import pg from 'pg'
import { methodsOn } from './classified.ts'
import * as jobs from './migrations/0001-jobs.ts'
import * as queueMessages from './migrations/0002-queue-messages.ts'
import * as tenants from './migrations/0003-tenants.ts'
import * as callbacks from './migrations/0004-callbacks.ts'
import * as listing from './migrations/0005-listing.ts'
import * as presets from './migrations/0006-presets.ts'
import * as recentDeadLetters from './migrations/0007-recent-dead-letters.ts'
import * as traces from './migrations/0008-traces.ts'
import type { Database } from './schema.ts'
import { compareSchema, executedMigrations, WrongSchema } from './schema-version.ts'

/** Every migration, in order. One that was released never changes. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-jobs': jobs,
  '0002-queue-messages': queueMessages,
  '0003-tenants': tenants,
  '0004-callbacks': callbacks,
  '0005-listing': listing,
  '0006-presets': presets,
  '0007-recent-dead-letters': recentDeadLetters,
  '0008-traces': traces,
}

/**
 * Brings the database to this version's schema. Any number of processes may do so at once: one does the work, the
 * others wait for it (an advisory lock of Kysely's). Takes as long as it takes, hence a pool without deadlines.
 *
 * A database that a later version has expanded is left as it is: this version runs beside that one, and after it when a
 * deploy is taken back.
 *
 * @throws {WrongSchema} when a later version has contracted it
 * @throws when a migration fails; its transaction is rolled back, and the ones before it stay
 */
export async function migrateToLatest(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, application_name: 'img42-migrate' })
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  try {
    const { missing, newer } = compareSchema(await executedMigrations(db), Object.keys(MIGRATIONS))
    if (newer.length > 0 && missing.length === 0) return
    const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
    const { error } = await migrator.migrateToLatest()
    if (error) throw error
  } finally {
    await db.destroy()
  }
}

/**
 * For an app that starts: whether its statements fit the database.
 *
 * @throws {WrongSchema} when the database lacks a migration, or has been contracted by a later version
 * @throws {DependencyError} when the database cannot be asked
 */
export async function requireSchema(db: Kysely<Database>): Promise<void> {
  const executed = await methodsOn(db)(executedMigrations)()
  const { missing } = compareSchema(executed, Object.keys(MIGRATIONS))
  if (missing.length > 0) {
    throw new WrongSchema(
      `the database lacks ${missing.join(', ')}: run node db/migrate.ts of this version before its apps`,
    )
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
