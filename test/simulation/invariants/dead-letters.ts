import { isTerminal } from '../../../core/job.ts'
import type { JobRow } from '../memory/tables.ts'
import type { Report } from './violation.ts'

/** Whether a dead letter may have done to its job what it did. */
export function checkDeadLetter(
  letter: { jobId: string | null; generation: number | null },
  before: JobRow | undefined,
  after: JobRow | undefined,
  now: number,
  report: Report,
): void {
  if (!before || !after || JSON.stringify(before) === JSON.stringify(after)) return
  const told = (text: string) =>
    report('dead_letter', `${letter.jobId}: ${text} was changed by a dead letter`)
  if (isTerminal(before.status)) told(`a job that had ${before.status}`)
  if (before.status === 'RUNNING' && before.leaseUntil! > now) told('a job with a live holder')
  if ((letter.generation ?? 0) < before.generation) told('a later generation')
}
