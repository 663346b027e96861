import { backoffMs } from '../../core/backoff.ts'
import { withDeadline } from '../../core/deadline.ts'
import { MAX_BATCH_ENTRIES, type ReceivedMessage } from '../../core/ports/queue.ts'
import { inDelivery } from '../../infra/tracing/traced-queue.ts'
import { Draining } from './attempt.ts'
import { createDelivery, type DeliveryParts } from './delivery.ts'
import { holdMessage } from './held-message.ts'

export interface ConsumerParts extends DeliveryParts {
  /** Attempts at once. */
  concurrency: number
  /** Called when a receive was answered, with messages or without. */
  onTurn: () => void
}

export interface Consumer {
  /** Settles when the consumer has drained. */
  ended: Promise<void>
  /** How many messages are in hand. */
  readonly busy: number
  /** Receives nothing more, gives back what has not begun, and lets attempts go on for `timing.drainMs`. */
  drain(): void
}

/**
 * The receive loop: never holds more messages than it has free slots, receives nothing while the gate is shut, and
 * drains when told to.
 */
export function startConsumer(parts: ConsumerParts): Consumer {
  const { queue, clock, random, timing, gate, concurrency, log, onTurn } = parts
  const { deliver } = createDelivery(parts)
  const stopReceiving = new AbortController()
  const stopWorking = new AbortController()
  const busy = new Set<Promise<void>>()
  let slotFreed = () => {}

  return {
    ended: run(),
    get busy() {
      return busy.size
    },
    drain() {
      stopReceiving.abort(new Draining())
      slotFreed()
    },
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!stopReceiving.signal.aborted) {
      try {
        await gate.passed(stopReceiving.signal)
        if (busy.size >= concurrency) {
          await new Promise<void>((resolve) => {
            slotFreed = resolve
          })
          continue
        }
        const messages = await receive(concurrency - busy.size)
        failures = 0
        onTurn()
        for (const message of messages) begin(message)
      } catch (error) {
        if (stopReceiving.signal.aborted) break
        failures += 1
        log.warn({ err: error, failures }, 'receive failed')
        const pauseMs = backoffMs(random, failures, { baseMs: timing.backoffBaseMs, capMs: timing.leaseMs })
        await clock.sleep(pauseMs, stopReceiving.signal).catch(() => {})
      }
    }
    await drained()
  }

  function receive(free: number): Promise<ReceivedMessage[]> {
    const options = {
      max: Math.min(MAX_BATCH_ENTRIES, free),
      waitSeconds: timing.pollSeconds,
      until: stopReceiving.signal,
    }
    // A poll has a deadline of its own: a connection that hangs half-open would otherwise hold the loop for ever.
    return withDeadline(clock, timing.pollSeconds * 1_000 + timing.callMs, undefined, (signal) =>
      queue.receive(options, signal),
    )
  }

  function begin(message: ReceivedMessage): void {
    const handled = stopReceiving.signal.aborted
      ? holdMessage(parts, message).hide(0)
      : inDelivery(message, () =>
          deliver(message, { beginning: stopReceiving.signal, working: stopWorking.signal }),
        )
    busy.add(handled)
    handled.finally(() => {
      busy.delete(handled)
      slotFreed()
    })
  }

  async function drained(): Promise<void> {
    const enough = new AbortController()
    await Promise.race([Promise.all(busy), clock.sleep(timing.drainMs, enough.signal).catch(() => {})])
    enough.abort()
    stopWorking.abort(new Draining())
    await Promise.all(busy)
  }
}
