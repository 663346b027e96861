import { readFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { openTestDatabase } from '../test/opened-database.ts'

const RUNBOOK = readFileSync(path.resolve(import.meta.dirname, '../docs/operations.md'), 'utf8')
const QUERIES = [...RUNBOOK.matchAll(/^ *```sql\n([\s\S]*?)^ *```$/gm)].map(([, query]) => query!.trim())
const db = await openTestDatabase()

it.each(QUERIES)('the runbook’s query runs, and changes nothing: %s', async (query) => {
  await db
    .transaction()
    .setAccessMode('read only')
    .execute((transaction) => sql.raw(query).execute(transaction))
})

it('the runbook has queries', () => {
  expect(QUERIES.length).toBeGreaterThan(8)
})
