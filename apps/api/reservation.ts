import type { Clock } from '../../core/ports/clock.ts'
import type { Admission, Reservation } from '../../core/ports/jobs.ts'

/** The key went to another upload while this one was alive: it was out of touch with the database for too long. */
export class ReservationLost extends Error {
  constructor() {
    super('the idempotency key went to another upload')
    this.name = 'ReservationLost'
  }
}

/**
 * Renews the reservation every third of its lease until `until` aborts. Lost → `stop` is aborted with
 * {@link ReservationLost}. A renewal without an answer proves nothing: the acceptance checks the token again.
 */
export async function keepReservation(
  { jobs, clock }: { jobs: Pick<Admission, 'renewReservation'>; clock: Clock },
  reservation: Reservation,
  leaseMs: number,
  stop: AbortController,
  until: AbortSignal,
): Promise<void> {
  while (true) {
    try {
      await clock.sleep(leaseMs / 3, until)
    } catch {
      return
    }
    const kept = await jobs.renewReservation({ ...reservation, leaseMs }).catch(() => true)
    if (!kept && !until.aborted) stop.abort(new ReservationLost())
  }
}
