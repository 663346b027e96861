import type { Kysely } from 'kysely'
import { afterAll } from 'vitest'
import { openDatabase } from '../db/connect.ts'
import type { Database } from '../db/schema.ts'
import { createTestDatabase } from './database.ts'

/** A test file's own database, open until after the last of its tests. To be awaited at the top of the file. */
export async function openTestDatabase(): Promise<Kysely<Database>> {
  const { url, drop } = await createTestDatabase()
  const db = openDatabase(url, { max: 6, callMs: 10_000, application: 'img42-test' })
  afterAll(async () => {
    await db.destroy()
    await drop()
  })
  return db
}
