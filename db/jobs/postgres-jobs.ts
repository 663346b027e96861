import { type Kysely, NoResultError } from 'kysely'
import pg from 'pg'
import { DependencyError } from '../../core/errors.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { Database } from '../schema.ts'
import * as admission from './admission.ts'
import * as deadLetter from './dead-letter.ts'
import { endJob } from './end.ts'
import * as publishing from './publishing.ts'
import * as retention from './retention.ts'
import { findJob } from './row.ts'
import * as sweeps from './sweeps.ts'
import * as work from './work.ts'

/** The `Jobs` port on Postgres. */
export function createPostgresJobs(db: Kysely<Database>): Jobs {
  /** A statement as a method of the port: bound to the database, its failures classified. */
  function method<Arguments extends unknown[], Answer>(
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

  return {
    find: method(findJob),
    // Of the table, not only of the server: a database that was never migrated serves nobody.
    ping: method(async (db) => void (await db.selectFrom('jobs').select('job_id').limit(0).execute())),
    reserve: method(admission.reserve),
    renewReservation: method(admission.renewReservation),
    releaseReservation: method(admission.releaseReservation),
    accept: method(admission.accept),
    claimOutbox: method(publishing.claimOutbox),
    confirmPublished: method(publishing.confirmPublished),
    returnToOutbox: method(publishing.returnToOutbox),
    refusePublication: method(publishing.refusePublication),
    claim: method(work.claim),
    heartbeat: method(work.heartbeat),
    end: method(endJob),
    putBack: method(work.putBack),
    republishLost: method(sweeps.republishLost),
    rescue: method(sweeps.rescue),
    expire: method(sweeps.expire),
    takeDeadLetter: method(deadLetter.takeDeadLetter),
    parkMessage: method(deadLetter.parkMessage),
    bury: method(retention.bury),
    buryFinished: method(retention.buryFinished),
    tombstonesWithObjects: method(retention.tombstonesWithObjects),
    confirmObjectsGone: method(retention.confirmObjectsGone),
    oldTombstones: method(retention.oldTombstones),
    forget: method(retention.forget),
    forgetReservations: method(retention.forgetReservations),
    existing: method(retention.existing),
  }
}

/**
 * What the server says about itself or the connection is a dependency's failure; what it says about the statement
 * (a constraint, a type) is a defect of ours and stays as it is.
 */
function classified(error: unknown): unknown {
  if (error instanceof TypeError || error instanceof NoResultError) return error
  if (error instanceof pg.DatabaseError && !OUTAGE.test(error.code ?? '')) return error
  return new DependencyError('database', `the database did not answer: ${(error as Error).message}`, {
    cause: error,
  })
}

/**
 * SQLSTATE classes and codes (PostgreSQL, Appendix A): connection, rollback by conflict, resources, operator's
 * intervention, system, read-only transaction, lock timeout.
 */
const OUTAGE = /^(08|40|53|57|58|25006|55P03)/
