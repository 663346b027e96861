import type { Jobs } from '../../core/ports/jobs.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'

export interface SweepParts {
  jobs: Jobs
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
 */
export async function sweepJobs({ jobs, timing, budget, queueIsEmpty, log }: SweepParts): Promise<void> {
  const { republishAgeMs: ageMs, evidenceMs, graceMs } = timing
  const queueEmpty = await queueIsEmpty()
  const acted = {
    republished: await jobs.republishLost({ ageMs, evidenceMs, queueEmpty, max: MAX_JOBS }),
    rescued: await jobs.rescue({ graceMs, budget, max: MAX_JOBS }),
    expired: await jobs.expire({ max: MAX_JOBS }),
  }
  for (const [repair, jobIds] of Object.entries(acted)) {
    // A repair means that something went wrong before: worth a warning each time.
    for (const jobId of jobIds) log.warn({ job_id: jobId, repair }, 'repaired')
  }
}
