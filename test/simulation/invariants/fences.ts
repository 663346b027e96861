import type { JobEnd } from '../../../core/ports/jobs.ts'
import type { Step } from '../faults.ts'
import type { JobRow } from '../memory/tables.ts'
import type { Outcome } from '../network.ts'
import type { Report } from './violation.ts'

/** Invariant 6, as the callers see it: which fences were given out, and what a call with an old one did. */
export function watchFences(report: Report) {
  const newest = new Map<string, { fence: number; owner: string }>()
  return {
    /** @param before the job before the call's transaction, and `after` after it */
    observe(
      step: Step,
      args: readonly unknown[],
      outcome: Outcome<unknown>,
      before: JobRow | undefined,
      after: JobRow | undefined,
    ): void {
      if (!outcome.ok || !after) return
      if (step === 'jobs.claim') {
        const claim = outcome.answer as { kind: string; fence: number }
        if (claim.kind !== 'claimed') return
        const { owner } = args[0] as { owner: string }
        const last = newest.get(after.jobId)
        // To its owner again, whose claim was not answered: any number of times.
        const repeated = last?.owner === owner && last.fence === claim.fence
        if (last && claim.fence <= last.fence && !repeated) {
          report('fence', `${after.jobId}: fence ${claim.fence} was given out twice`)
        }
        newest.set(after.jobId, { fence: claim.fence, owner })
        return
      }
      const fence = fenceOf(step, args)
      if (fence === null || !before || fence === before.fence) return
      if (outcome.answer !== false)
        report('fence', `${after.jobId} at ${step}: fence ${fence} is old and was taken`)
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        report('fence', `${after.jobId} at ${step}: fence ${fence} is old and changed the row`)
      }
    },
  }
}

function fenceOf(step: Step, args: readonly unknown[]): number | null {
  if (step === 'jobs.heartbeat' || step === 'jobs.putBack') return (args[0] as { fence: number }).fence
  if (step !== 'jobs.end') return null
  const { by } = args[0] as JobEnd
  return by.kind === 'owner' ? null : by.fence
}
