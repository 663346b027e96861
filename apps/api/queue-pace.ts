import type { Job } from '../../core/job.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { QueuePace, Reading } from '../../core/ports/jobs.ts'

/** How long a measurement serves all requests; how long it may, while the next one is taken beside them. */
const FRESH_MS = 1_000
const STALE_MS = 10_000
/** What an image takes where none was measured. */
const GUESSED_WORK_MS = 1_000
/** Longer is not told: by then the queue may have moved on, and more workers may have come. */
const MAX_RETRY_SECONDS = 60

export type Waiting = Pick<Job, 'status' | 'claimableInMs' | 'runAt'>

export interface Pace {
  /** When a client does well to ask for a job again that is not done: in whole seconds, 1 to 60. Never rejects. */
  retryAfterSeconds(job: Waiting): Promise<number>
}

/** Measures the queue once a second at most, and only while somebody asks. */
export function createPace({ jobs, clock }: { jobs: Pick<Reading, 'queuePace'>; clock: Clock }): Pace {
  let newest: { at: number; pace: QueuePace | null } | null = null
  let measuring: Promise<void> | null = null

  function measure(): Promise<void> {
    const at = clock.now()
    measuring ??= jobs
      .queuePace()
      // No answer fails for want of a guess.
      .catch(() => newest?.pace ?? null)
      .then((pace) => {
        newest = { at, pace }
        measuring = null
      })
    return measuring
  }

  return {
    async retryAfterSeconds(job) {
      const ageMs = newest ? clock.now() - newest.at : Number.POSITIVE_INFINITY
      if (ageMs >= STALE_MS) await measure()
      else if (ageMs >= FRESH_MS) void measure()
      const seconds = Math.ceil(expectedMs(newest?.pace ?? null, job) / 1_000)
      return Math.min(MAX_RETRY_SECONDS, Math.max(1, seconds))
    },
  }
}

/**
 * How long until the job is done, as the queue moves now, in milliseconds.
 *
 * Jobs ahead of it: its place among those that are due, by when they fell due. They go at the rate at which jobs end, or
 * at which those that run now would end, whichever is higher: of a queue that was idle the first says nothing. Where
 * nothing runs at all, what has kept the oldest waiting goes on for as long again.
 */
export function expectedMs(pace: QueuePace | null, job: Waiting): number {
  const workMs = pace?.workMs ?? GUESSED_WORK_MS
  if (job.status === 'RUNNING' || !pace) return workMs
  const { ended, withinMs, running, waiting, oldestDueAt, newestDueAt, oldestWaitedMs } = pace
  const rate = Math.max(ended / Math.max(withinMs, 1_000), Math.max(running, 1) / Math.max(workMs, 1))
  const ahead = waiting * place(job.runAt, oldestDueAt, newestDueAt)
  const stalledMs = running === 0 ? oldestWaitedMs : 0
  return Math.max(job.claimableInMs, ahead / rate, stalledMs) + workMs
}

/** 0 for the oldest, 1 for the newest. */
function place(at: Date, oldest: Date | null, newest: Date | null): number {
  if (!oldest || !newest || newest <= oldest) return 0
  const share = (at.getTime() - oldest.getTime()) / (newest.getTime() - oldest.getTime())
  return Math.min(1, Math.max(0, share))
}
