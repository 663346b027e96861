import type { Jobs } from '../../../core/ports/jobs.ts'
import * as admission from './admission.ts'
import * as deadLetters from './dead-letters.ts'
import * as publishing from './publishing.ts'
import * as reading from './reading.ts'
import * as retention from './retention.ts'
import * as sweeps from './sweeps.ts'
import type { Tables } from './tables.ts'
import * as work from './work.ts'

/** The `Jobs` port on {@link Tables}: what Postgres answers, it answers. */
export function createMemoryJobs(tables: Tables): Jobs {
  function method<Arguments extends unknown[], Answer>(
    transaction: (tables: Tables, ...args: Arguments) => Answer,
  ): (...args: Arguments) => Promise<Answer> {
    return async (...args) => transaction(tables, ...args)
  }

  return {
    find: method(reading.find),
    findByKey: method(reading.findByKey),
    endedAmong: method(reading.endedAmong),
    transitionsAfter: method(reading.transitionsAfter),
    list: method(reading.list),
    queuePace: method(reading.queuePace),
    ping: async () => {},
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
    end: method(work.endJob),
    putBack: method(work.putBack),
    republishLost: method(sweeps.republishLost),
    rescue: method(sweeps.rescue),
    expire: method(sweeps.expire),
    takeDeadLetter: method(deadLetters.takeDeadLetter),
    parkMessage: method(deadLetters.parkMessage),
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
