import { describe, it } from 'vitest'
import type { Queues } from '../../core/ports/queue.ts'
import type { Deviation, Rule } from './queue-bench.ts'
import { deadLetterRules } from './queue-dead-letters.ts'
import { deliveryRules } from './queue-delivery.ts'
import { visibilityRules } from './queue-visibility.ts'

/** What the suite needs of an implementation; opened anew, and empty, for each test. */
export interface QueuesUnderTest {
  /** With a visibility timeout of `VISIBILITY_SECONDS` and a maxReceiveCount of `MAX_RECEIVE_COUNT`. */
  queues: Queues
  close(): Promise<void>
}

/**
 * Every rule of the `Queue` port, as tests of one implementation. They let time pass by receiving alone: a receive that
 * waits is how a queue's time passes, on whatever clock that is.
 */
export function queueConformance(
  name: string,
  open: () => Promise<QueuesUnderTest>,
  deviations: readonly Deviation[] = [],
): void {
  const rule: Rule = (sentence, test, deviation) => {
    const fails = deviation !== undefined && deviations.includes(deviation)
    it.concurrent(sentence, { fails }, async () => {
      const { queues, close } = await open()
      try {
        await test(queues)
      } finally {
        await close()
      }
    })
  }

  describe(`Queue on ${name}`, () => {
    describe('delivery', () => deliveryRules(rule))
    describe('visibility', () => visibilityRules(rule))
    describe('dead letters', () => deadLetterRules(rule))
  })
}
