import type { Clock } from '../../core/ports/clock.ts'
import type { Work } from '../../core/ports/jobs.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'
import type { HeldMessage } from './held-message.ts'

/** The attempt's fence is old: somebody else has the job, or has ended it. Nothing of it may be touched. */
export class LeaseLost extends Error {
  constructor() {
    super('the job has another holder')
    this.name = 'LeaseLost'
  }
}

/** No heartbeat was answered for a whole lease: somebody else may have the job. */
export class LeaseUncertain extends Error {
  constructor() {
    super('no heartbeat was answered for a whole lease')
    this.name = 'LeaseUncertain'
  }
}

export interface LeaseParts {
  jobs: Pick<Work, 'heartbeat'>
  clock: Clock
  timing: Timing
  log: Log
}

/**
 * Keeps a claimed job: renews the row's lease and the message's visibility every `timing.heartbeatMs`, until `stop`
 * aborts. Calls `lose` once when the job is no longer this attempt's, or may not be.
 *
 * @param claimedAt when the claim was asked for, by this process's clock: the lease cannot have begun earlier
 */
export async function keepLease(
  { jobs, clock, timing, log }: LeaseParts,
  held: { jobId: string; fence: number; message: HeldMessage; claimedAt: number },
  lose: (reason: LeaseLost | LeaseUncertain) => void,
  stop: AbortSignal,
): Promise<void> {
  const { jobId, fence, message } = held
  // When the database was last heard. Time in which this process itself stood still is left out: that is no silence of
  // the database's, and an image that stalls its worker would otherwise be given back for ever, charged to nobody.
  let heardAt = held.claimedAt
  while (true) {
    const beganAt = clock.now()
    const pauseMs = Math.max(0, Math.min(timing.heartbeatMs, heardAt + timing.leaseMs - beganAt))
    try {
      await clock.sleep(pauseMs, stop)
    } catch {
      return
    }
    const askedAt = clock.now()
    // The message's visibility is renewed beside, not after: a slow database must not cost the message as well.
    const [row] = await Promise.allSettled([
      jobs.heartbeat({ jobId, fence, leaseMs: timing.leaseMs }),
      message.hide(timing.visibilitySeconds),
    ])
    if (stop.aborted) return
    if (row.status === 'fulfilled' && !row.value) return lose(new LeaseLost())
    // The pause and the call each end in time; what goes beyond that, this process stood still.
    const stalledBeforeMs = Math.max(0, askedAt - beganAt - pauseMs)
    const stalledAskingMs = Math.max(0, clock.now() - askedAt - timing.callMs)
    if (row.status === 'fulfilled') heardAt = askedAt + stalledAskingMs
    else {
      heardAt += stalledBeforeMs + stalledAskingMs
      log.warn({ job_id: jobId, fence, err: row.reason }, 'heartbeat not answered')
    }
    if (clock.now() - heardAt >= timing.leaseMs) return lose(new LeaseUncertain())
  }
}
