import { backoffMs } from '../../core/backoff.ts'
import { DeadlineExceeded, withDeadline } from '../../core/deadline.ts'
import { type Dependency, DependencyError, PermanentError, WorkError } from '../../core/errors.ts'
import type { JobError } from '../../core/job.ts'
import { exhausted, failed } from '../../core/job-ends.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ClaimOutcome, JobEnd, Jobs } from '../../core/ports/jobs.ts'
import type { Random } from '../../core/ports/random.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'
import type { Gate } from './gate.ts'
import type { HeldMessage } from './held-message.ts'
import { type ImageWorkParts, workOnImage } from './image-work.ts'
import { keepLease, LeaseLost, LeaseUncertain } from './lease-keeper.ts'
import { untilAnswered } from './until-answered.ts'

/** The process stops: the attempt is given back, charged to nobody. */
export class Draining extends Error {
  constructor() {
    super('the worker stops')
    this.name = 'Draining'
  }
}

export interface AttemptParts extends ImageWorkParts {
  jobs: Jobs
  clock: Clock
  random: Random
  timing: Timing
  budget: number
  gate: Gate
  log: Log
}

type Claimed = Extract<ClaimOutcome, { kind: 'claimed' }>

/**
 * One attempt at a claimed job, from the claim to the verdict:
 *
 *     work done          → end SUCCEEDED                → delete the message
 *     image at fault     → end FAILED with its code     → delete the message
 *     attempt at fault   → QUEUED again, charged        → hide the message until then; budget spent → FAILED
 *     dependency at fault→ QUEUED again, given back     → hide the message until then, shut the gate
 *     process stops      → QUEUED again, given back     → give the message back at once
 *     lease lost         → nothing: somebody else has the job
 *
 * Always the row first and the message after it: a message that comes too early finds the row and waits, a row whose
 * message is gone would wait for the reconciler.
 *
 * @param claimedAt when the claim was asked for, by this process's clock
 * @param drain aborts with {@link Draining} when the process has waited long enough
 */
export async function runAttempt(
  parts: AttemptParts,
  { job, fence, attempt }: Claimed,
  message: HeldMessage,
  claimedAt: number,
  drain: AbortSignal,
): Promise<void> {
  const { clock, timing, gate } = parts
  const log = { job_id: job.jobId, attempt, fence, receive_count: message.receiveCount }
  const lost = new AbortController()
  const done = new AbortController()
  const keeping = keepLease(
    parts,
    { jobId: job.jobId, fence, message, claimedAt },
    (why) => lost.abort(why),
    done.signal,
  )

  try {
    const work = await withDeadline(
      clock,
      timing.attemptMs,
      AbortSignal.any([lost.signal, drain]),
      (signal) => workOnImage(parts, job, signal),
    )
    await finish({ end: { status: 'SUCCEEDED', ...work } })
    gate.served()
  } catch (error) {
    await settle(error)
  } finally {
    await stopKeeping()
  }

  /** Before the message's last step: a renewal under way would otherwise arrive after it, and hide the message again. */
  async function stopKeeping(): Promise<void> {
    done.abort()
    await keeping
  }

  async function settle(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) {
      parts.log.warn(log, 'lease lost: nothing touched')
    } else if (error instanceof PermanentError) {
      await finish(failed({ code: error.code, message: error.message }))
      gate.served()
    } else if (error instanceof Draining) {
      await putBack({ charged: false, delayMs: 0, error: null })
    } else if (error instanceof LeaseUncertain) {
      await givenBack('database', 'the database did not answer for a whole lease')
    } else if (error instanceof DependencyError) {
      parts.log.warn({ ...log, err: error }, 'dependency failed')
      await givenBack(error.dependency, error.message)
    } else {
      await charge(theWorksOwn(error))
    }
  }

  function theWorksOwn(error: unknown): JobError {
    if (error instanceof DeadlineExceeded) {
      return { code: 'timeout', message: `the attempt took longer than ${timing.attemptMs} ms` }
    }
    if (error instanceof WorkError) return { code: error.code, message: error.message }
    // A defect of ours. Its message stays in the log: clients are shown what they can act on.
    parts.log.error({ ...log, err: error }, 'unexpected error in an attempt')
    return { code: 'internal', message: 'an internal error' }
  }

  async function charge(error: JobError): Promise<void> {
    parts.log.warn({ ...log, code: error.code, reason: error.message }, 'attempt failed')
    if (attempt >= parts.budget) return finish(exhausted(attempt, error))
    const backoff = { baseMs: timing.backoffBaseMs, capMs: timing.backoffCapMs }
    await putBack({ charged: true, delayMs: backoffMs(parts.random, attempt, backoff), error })
  }

  async function givenBack(dependency: Dependency, reason: string): Promise<void> {
    gate.shut(dependency)
    // The receive count, because an attempt that is given back leaves no trace in the budget.
    const backoff = { baseMs: timing.backoffBaseMs, capMs: timing.backoffCapMs }
    const delayMs = backoffMs(parts.random, message.receiveCount, backoff)
    await putBack({ charged: false, delayMs, error: { code: 'dependency_unavailable', message: reason } })
  }

  /** Row first: ends the job; only a terminal row lets the message go. */
  async function finish(ending: Pick<JobEnd, 'end' | 'deadLetter'>): Promise<void> {
    const ended = await answered(() =>
      parts.jobs.end({ jobId: job.jobId, by: { kind: 'holder', fence }, ...ending }),
    )
    if (ended === null) return
    // Not ended: by a lost answer this attempt may have ended it before, or somebody else has it now. The row tells.
    const status = ended ? ending.end.status : (await answered(() => parts.jobs.find(job.jobId)))?.status
    if (status !== 'SUCCEEDED' && status !== 'FAILED') {
      parts.log.warn({ ...log, status }, 'too late to end the job: nothing touched')
      return
    }
    parts.log.info(
      { ...log, status, code: ending.end.status === 'FAILED' ? ending.end.error.code : undefined },
      'ended',
    )
    await stopKeeping()
    await message.delete()
  }

  async function putBack(given: {
    charged: boolean
    delayMs: number
    error: JobError | null
  }): Promise<void> {
    const back = await answered(() => parts.jobs.putBack({ jobId: job.jobId, fence, ...given }))
    await stopKeeping()
    if (back) await message.hide(Math.ceil(given.delayMs / 1_000))
  }

  function answered<T>(ask: () => Promise<T>): Promise<T | null> {
    return untilAnswered(parts, log, drain, ask)
  }
}
