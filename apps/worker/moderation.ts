import { DeadlineExceeded, withDeadline } from '../../core/deadline.ts'
import { DependencyError } from '../../core/errors.ts'
import type { Moderation } from '../../core/job.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Moderator } from '../../core/ports/moderator.ts'
import type { RenderedOutput } from '../../core/ports/renderer.ts'
import { fallbackOf } from '../../core/variants.ts'

export interface ModerationParts {
  moderator: Moderator
  /** The longest wait for a verdict. */
  timeoutMs: number
}

/**
 * Asks the moderator about a job's first output, in the variant that the most programs read: the same bytes on each
 * attempt, small, upright and of a format that the original need not have had.
 *
 * @throws what {@link Moderator.judge} does; no verdict in time is a {@link DependencyError}
 */
export async function moderate(
  { moderator, timeoutMs }: ModerationParts,
  clock: Clock,
  jobId: string,
  outputs: readonly RenderedOutput[],
  attempt: AbortSignal,
): Promise<Moderation> {
  const { contentType, body } = fallbackOf(outputs.filter(({ name }) => name === outputs[0]?.name))
  try {
    return await withDeadline(clock, timeoutMs, attempt, (signal) =>
      moderator.judge({ jobId, contentType, body }, signal),
    )
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    throw new DependencyError('moderation', `the moderator gave ${error.message}`, { cause: error })
  }
}
