import { backoffMs } from '../../core/backoff.ts'
import { DependencyError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs, Reservation } from '../../core/ports/jobs.ts'
import type { Random } from '../../core/ports/random.ts'

/** Between two looks for a job that may have been accepted. */
const BACKOFF = { baseMs: 200, capMs: 2_000 }

/**
 * Finds out what became of an acceptance whose answer was lost, for up to `patienceMs`.
 *
 * `absent` is a promise that the job will never exist, and so that its object may go. It takes two looks with the
 * reservation's release between them: the release waits for an acceptance that is under way and defeats a later one,
 * whereas a job that is merely not there yet may still be committed. Without a reservation nothing can defeat a late
 * commit, and the answer is at best `unknown`.
 */
export async function settleUnknownCommit(
  { jobs, clock, random }: { jobs: Pick<Jobs, 'find' | 'releaseReservation'>; clock: Clock; random: Random },
  jobId: string,
  reservation: Reservation | null,
  patienceMs: number,
): Promise<{ kind: 'accepted'; job: Job } | { kind: 'absent' | 'unknown' }> {
  const until = clock.now() + patienceMs
  for (let tries = 1; ; tries++) {
    try {
      const job = await jobs.find(jobId)
      if (job) return { kind: 'accepted', job }
      if (reservation) {
        await jobs.releaseReservation(reservation)
        const late = await jobs.find(jobId)
        return late ? { kind: 'accepted', job: late } : { kind: 'absent' }
      }
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error
    }
    if (clock.now() >= until) return { kind: 'unknown' }
    await clock.sleep(backoffMs(random, tries, BACKOFF))
  }
}
