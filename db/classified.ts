import { type Kysely, NoResultError } from 'kysely'
import pg from 'pg'
import { DependencyError } from '../core/errors.ts'
import { NotConnected } from './connect.ts'
import type { Database } from './schema.ts'

/**
 * Makes methods of statements: each bound to the database, its failures classified.
 *
 * @returns `method`, for the object that implements a port
 */
export function methodsOn(db: Kysely<Database>) {
  return function method<Arguments extends unknown[], Answer>(
    statement: (db: Kysely<Database>, ...args: Arguments) => Promise<Answer>,
  ): (...args: Arguments) => Promise<Answer> {
    return async (...args) => {
      try {
        return await statement(db, ...args)
      } catch (error) {
        throw classified(error)
      }
    }
  }
}

/**
 * What the server says about itself or the connection is a dependency's failure; what it says about the statement
 * (a constraint, a type) is a defect of ours and stays as it is.
 */
export function classified(error: unknown): unknown {
  if (error instanceof TypeError || error instanceof NoResultError) return error
  if (error instanceof pg.DatabaseError && !OUTAGE.test(error.code ?? '')) return error
  return new DependencyError('database', `the database did not answer: ${(error as Error).message}`, {
    cause: error,
    unsent: error instanceof NotConnected,
  })
}

/**
 * SQLSTATE classes and codes (PostgreSQL, Appendix A): connection, rollback by conflict, resources, operator's
 * intervention, system, read-only transaction, lock timeout.
 */
const OUTAGE = /^(08|40|53|57|58|25006|55P03)/
