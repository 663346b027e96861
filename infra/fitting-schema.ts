import type { Kysely } from 'kysely'
import { DependencyError } from '../core/errors.ts'
import { requireSchema } from '../db/migrate.ts'
import type { Database } from '../db/schema.ts'
import type { Log } from './log.ts'

/**
 * For an app that starts: refuses a database that its statements do not fit. One that does not answer is no reason not to
 * start, for the app goes through outages by itself.
 *
 * @throws {WrongSchema}
 */
export async function requireFittingSchema(db: Kysely<Database>, log: Log): Promise<void> {
  try {
    await requireSchema(db)
  } catch (err) {
    if (!(err instanceof DependencyError)) throw err
    log.warn({ err }, 'the database does not answer: whether this version fits it was not checked')
  }
}
