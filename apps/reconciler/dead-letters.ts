import { withDeadline } from '../../core/deadline.ts'
import { decodeJobMessage } from '../../core/job-message.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import {
  MAX_BATCH_ENTRIES,
  MAX_HIDDEN_SECONDS,
  type Queue,
  type ReceivedMessage,
} from '../../core/ports/queue.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'

export interface DeadLetterParts {
  jobs: Jobs
  deadLetters: Queue
  clock: Clock
  timing: Timing
  budget: number
  log: Log
}

/**
 * Empties the dead-letter queue into the table: each message is judged and recorded in one transaction, and deleted
 * from the queue only after that. A crash in between brings it back, and it is then recognised by its id.
 *
 * @returns how many messages it took in
 */
export async function sweepDeadLetters(parts: DeadLetterParts): Promise<number> {
  const { deadLetters, clock, timing } = parts
  const call = <T>(run: (signal: AbortSignal) => Promise<T>) =>
    withDeadline(clock, timing.callMs, undefined, run)
  const messages = await call((signal) =>
    deadLetters.receive({ max: MAX_BATCH_ENTRIES, waitSeconds: 0 }, signal),
  )
  for (const message of messages) {
    const { receiptHandle } = message
    const holdMs = await takeIn(parts, message)
    await call((signal) =>
      holdMs === null
        ? deadLetters.delete([receiptHandle], signal)
        : deadLetters.changeVisibility([{ receiptHandle, seconds: holdSeconds(holdMs) }], signal),
    )
  }
  return messages.length
}

/** How long to leave the message for, in milliseconds, or null when it is recorded. */
async function takeIn(
  { jobs, budget, log }: DeadLetterParts,
  message: ReceivedMessage,
): Promise<number | null> {
  const { messageId, body, receiveCount } = message
  const decoded = decodeJobMessage(message)
  if (!decoded.ok) {
    log.error({ message_id: messageId, reason: decoded.reason }, 'dead letter is unreadable')
    await jobs.parkMessage({ messageId, body, reason: decoded.reason, receiveCount })
    return null
  }
  const { jobId, generation } = decoded.message
  const reason = 'received too often'
  const verdict = await jobs.takeDeadLetter({
    messageId,
    body,
    reason,
    receiveCount,
    jobId,
    generation,
    budget,
  })
  log.warn(
    { job_id: jobId, message_id: messageId, receive_count: receiveCount, verdict: verdict.kind },
    'dead letter',
  )
  return verdict.kind === 'hold' ? verdict.retryInMs : null
}

function holdSeconds(ms: number): number {
  return Math.min(MAX_HIDDEN_SECONDS, Math.ceil(ms / 1_000))
}
