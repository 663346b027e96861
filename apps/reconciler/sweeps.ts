import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'

export interface SweepParts {
  jobs: Jobs
  clock: Clock
  timing: Timing
  budget: number
  queueIsEmpty: () => Promise<boolean>
  log: Log
}

/** Jobs that one sweep acts on at most in a turn, so that a mass of them does not become a mass of messages at once. */
const MAX_JOBS = 100

/**
 * The sweeps over the jobs' table. Each decides by the row alone, in the statement that acts, so that any number of
 * reconcilers may run at once. None of them publishes: they write outbox rows, and the relay sends.
 *
 * After a time without the database every lease has run out, and the workers are about to give back, uncharged, what
 * they held. So nothing is rescued until the database has answered each turn for `timing.graceMs`: a rescue that came
 * first would leave an attempt charged that nothing but the outage ended.
 *
 * @returns a turn
 */
export function createJobSweep(parts: SweepParts): () => Promise<void> {
  const { jobs, clock, timing, budget, queueIsEmpty, log } = parts
  const { republishAgeMs: ageMs, evidenceMs, graceMs } = timing
  let answeringSince: number | null = null

  async function sweep(): Promise<void> {
    const queueEmpty = await queueIsEmpty()
    const republished = await jobs.republishLost({ ageMs, evidenceMs, queueEmpty, max: MAX_JOBS })
    answeringSince ??= clock.now()
    const steady = clock.now() - answeringSince >= graceMs
    const rescued = steady ? await jobs.rescue({ graceMs, budget, max: MAX_JOBS }) : []
    const expired = await jobs.expire({ max: MAX_JOBS })
    for (const [repair, jobIds] of Object.entries({ republished, rescued, expired })) {
      // A repair means that something went wrong before: worth a warning each time.
      for (const jobId of jobIds) log.warn({ job_id: jobId, repair }, 'repaired')
    }
  }

  return async () => {
    try {
      await sweep()
    } catch (error) {
      answeringSince = null
      throw error
    }
  }
}
