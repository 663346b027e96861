import type { Kysely } from 'kysely'
import type { Jobs } from '../../core/ports/jobs.ts'
import { methodsOn } from '../classified.ts'
import type { Database } from '../schema.ts'
import * as admission from './admission.ts'
import * as deadLetter from './dead-letter.ts'
import { endJob } from './end.ts'
import * as publishing from './publishing.ts'
import * as reading from './reading.ts'
import * as retention from './retention.ts'
import { findJob } from './row.ts'
import * as sweeps from './sweeps.ts'
import * as work from './work.ts'

/** The `Jobs` port on Postgres. */
export function createPostgresJobs(db: Kysely<Database>): Jobs {
  const method = methodsOn(db)
  return {
    find: method(findJob),
    findByKey: method(reading.findByKey),
    endedAmong: method(reading.endedAmong),
    transitionsAfter: method(reading.transitionsAfter),
    list: method(reading.list),
    queuePace: method(reading.queuePace),
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
