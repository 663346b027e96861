import { DeadlineExceeded } from '../../../core/deadline.ts'
import { DependencyError, PermanentError, WorkError } from '../../../core/errors.ts'

/** Whether an error is one of those that the steps are written for; any other is a defect. */
export function foreseen(error: unknown): boolean {
  return [DependencyError, DeadlineExceeded, PermanentError, WorkError].some((kind) => error instanceof kind)
}
