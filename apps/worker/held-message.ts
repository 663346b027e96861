import { withDeadline } from '../../core/deadline.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { MAX_HIDDEN_SECONDS, type Queue, type ReceivedMessage } from '../../core/ports/queue.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'

/**
 * A message that this process has received. None of its calls throws: the job's row decides what becomes of the job,
 * and a message that could not be hidden or deleted comes back, to find that out.
 */
export interface HeldMessage {
  /** A message of the same job was received again here: its handle is the newer one, the old one is stale. */
  adopt(message: ReceivedMessage): void
  /** Hides it from now on; 0 gives it back at once. */
  hide(seconds: number): Promise<void>
  delete(): Promise<void>
  readonly receiveCount: number
}

export function holdMessage(
  { queue, clock, timing, log }: { queue: Queue; clock: Clock; timing: Timing; log: Log },
  received: ReceivedMessage,
): HeldMessage {
  let { receiptHandle, receiveCount } = received
  const { messageId } = received

  async function quietly(
    what: string,
    call: (signal: AbortSignal) => ReturnType<Queue['delete']>,
  ): Promise<void> {
    try {
      const [outcome] = await withDeadline(clock, timing.callMs, undefined, call)
      if (outcome && !outcome.ok)
        log.warn({ message_id: messageId, code: outcome.code }, `message not ${what}`)
    } catch (error) {
      log.warn({ message_id: messageId, err: error }, `message not ${what}`)
    }
  }

  return {
    adopt(message) {
      receiptHandle = message.receiptHandle
      receiveCount = message.receiveCount
    },
    hide: (seconds) =>
      quietly('hidden', (signal) =>
        queue.changeVisibility([{ receiptHandle, seconds: Math.min(MAX_HIDDEN_SECONDS, seconds) }], signal),
      ),
    delete: () => quietly('deleted', (signal) => queue.delete([receiptHandle], signal)),
    get receiveCount() {
      return receiveCount
    },
  }
}
