import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { DependencyError } from '../core/errors.ts'
import { asAdmin, createTestDatabase, databaseUrl } from '../test/database.ts'
import { openTestDatabase } from '../test/opened-database.ts'
import { openDatabase } from './connect.ts'
import { migrateToLatest, requireSchema } from './migrate.ts'
import { executedMigrations } from './schema-version.ts'

const run = promisify(execFile)
const PROGRAM = path.join(import.meta.dirname, 'migrate.ts')
const migrated = await openTestDatabase()

/** The program, as a deploy runs it. */
const migrate = (url: string) =>
  run(process.execPath, [PROGRAM], { env: { ...process.env, DATABASE_URL: url } }).then(
    () => ({ code: 0, stderr: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  )

/** A database that nothing has been done to. */
async function withEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const { adminUrl } = inject('testServer')
  const name = `img42_empty_${process.pid}_${Math.random().toString(36).slice(2)}`
  await asAdmin(adminUrl, (client) => client.query(`create database ${name}`))
  try {
    await work(databaseUrl(adminUrl, name))
  } finally {
    await asAdmin(adminUrl, (client) => client.query(`drop database ${name} with (force)`))
  }
}

async function withDatabase<T>(
  url: string,
  work: (db: ReturnType<typeof openDatabase>) => Promise<T>,
): Promise<T> {
  const db = openDatabase(url, { max: 1, callMs: 10_000, application: 'img42-test' })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/** As a version that is yet to come leaves it. */
async function withNewerDatabase(migration: string, work: (url: string) => Promise<void>): Promise<void> {
  const database = await createTestDatabase()
  try {
    await withDatabase(database.url, (db) =>
      sql`insert into kysely_migration (name, timestamp) values (${migration}, '2030-01-01')`.execute(db),
    )
    await work(database.url)
  } finally {
    await database.drop()
  }
}

test('three that start at once on an empty database migrate it once', async () => {
  const all = await executedMigrations(migrated)
  await withEmptyDatabase(async (url) => {
    expect(await Promise.all([migrate(url), migrate(url), migrate(url)])).toEqual(
      Array(3).fill({ code: 0, stderr: '' }),
    )
    await withDatabase(url, async (db) => {
      expect(await executedMigrations(db)).toEqual(all)
      await requireSchema(db)
    })
  })
})

test('an app is told to wait for the migration of an empty database, and which ones a database lacks', async () => {
  await withEmptyDatabase(async (url) => {
    await withDatabase(url, async (db) => {
      await expect(requireSchema(db)).rejects.toThrow(
        /^the database lacks 0001-jobs, .*: run node db\/migrate\.ts/,
      )
    })
  })
})

test('a database that a later version has expanded is left as it is, and may be used', async () => {
  await withNewerDatabase('9000-later', async (url) => {
    expect(await migrate(url)).toEqual({ code: 0, stderr: '' })
    await withDatabase(url, requireSchema)
  })
})

test('one that a later version has contracted is refused, by the migration and by the apps', async () => {
  const sentence =
    'the database has had 9001-contract-old-columns, which this version does not know: it is too old for this database; run a later one'
  await withNewerDatabase('9001-contract-old-columns', async (url) => {
    expect(await migrate(url)).toEqual({ code: 1, stderr: `img42 migrate: ${sentence}\n` })
    await withDatabase(url, async (db) => {
      await expect(requireSchema(db)).rejects.toThrow(sentence)
    })
  })
})

test('one that does not answer is a dependency’s failure', async () => {
  await withDatabase('postgres://nobody@127.0.0.1:1/none', async (db) => {
    await expect(requireSchema(db)).rejects.toThrow(DependencyError)
  })
})

test('migrating again changes nothing', async () => {
  const before = await executedMigrations(migrated)
  const { url } = await createTestDatabase()
  await migrateToLatest(url)
  await withDatabase(url, async (db) => expect(await executedMigrations(db)).toEqual(before))
})
