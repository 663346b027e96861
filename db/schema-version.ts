import { type Kysely, sql } from 'kysely'
import type { Database } from './schema.ts'

/** The database is not one that this version's statements fit. Its message is a sentence without a full stop. */
export class WrongSchema extends Error {
  constructor(sentence: string) {
    super(sentence)
    this.name = 'WrongSchema'
  }
}

/** The migrations that the database has had, in their order; none where it was never migrated. */
export async function executedMigrations(db: Kysely<Database>): Promise<string[]> {
  const { rows: tables } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db)
  if (!tables[0]!.there) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

/**
 * Compares what the database has had with what this version knows.
 *
 * Two adjacent versions run side by side, and so a later one first expands the schema only: new tables, and new columns
 * that may be null, which an earlier one does not see. What takes something away is a migration called
 * `NNNN-contract-…`; it comes a version later, when none is left that needs it, and from then on an earlier version is
 * refused.
 *
 * @returns what is `missing` in the database, and what it has that is `newer` than this version
 * @throws {WrongSchema} when something newer has contracted it
 */
export function compareSchema(
  executed: readonly string[],
  known: readonly string[],
): { missing: string[]; newer: string[] } {
  const newer = executed.filter((name) => !known.includes(name))
  const contraction = newer.find((name) => /^\d+-contract-/.test(name))
  if (contraction) {
    throw new WrongSchema(
      `the database has had ${contraction}, which this version does not know: it is too old for this database; run a later one`,
    )
  }
  return { missing: known.filter((name) => !executed.includes(name)), newer }
}
