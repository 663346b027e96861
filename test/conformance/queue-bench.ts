import { expect } from 'vitest'
import type { OutgoingMessage, Queue, Queues, ReceivedMessage } from '../../core/ports/queue.ts'

export const VISIBILITY_SECONDS = 1
export const MAX_RECEIVE_COUNT = 3

/** Rules of SQS that an emulator of it may not follow; the tests of those have to fail there. */
export type Deviation =
  /** Hides a message beyond 12 hours from its receive. */
  | 'no ceiling'
  /** Hides a message for any number of seconds. */
  | 'no limit'
  /** Hides and deletes a message under the handle of an earlier receive. */
  | 'old handles act'
  /** Answers that it hid what is visible. */
  | 'visible is hidden'
  /** Forgets a receipt handle as soon as its message is visible again. */
  | 'no late delete'
  /** Refuses characters that take two UTF-16 units. */
  | 'no emoji'

/** Makes a test of a sentence about the queues; has to fail where the implementation deviates so. */
export type Rule = (sentence: string, test: (queues: Queues) => Promise<void>, deviation?: Deviation) => void

export const REFUSED_FOR_GOOD = { ok: false, code: expect.any(String), permanent: true }

/** Ends what hangs; no rule leans on it. */
export function signal(): AbortSignal {
  return AbortSignal.timeout(40_000)
}

export function message(body: string, attributes: Record<string, string> = {}): OutgoingMessage {
  return { body, attributes }
}

/** Receives until there are `count` different messages. */
export async function receiveAll(queue: Queue, count: number, max = 10): Promise<ReceivedMessage[]> {
  const received = new Map<string, ReceivedMessage>()
  for (let receives = 0; receives < 10 && received.size < count; receives++) {
    for (const one of await queue.receive({ max, waitSeconds: 2 }, signal())) {
      received.set(one.messageId, one)
    }
  }
  expect(received.size).toBe(count)
  return [...received.values()]
}

export async function receiveOne(queue: Queue): Promise<ReceivedMessage> {
  const [received] = await receiveAll(queue, 1, 1)
  return received!
}

export async function hide(queue: Queue, { receiptHandle }: ReceivedMessage, seconds: number) {
  const [outcome] = await queue.changeVisibility([{ receiptHandle, seconds }], signal())
  return outcome
}

/** Receives the queue's only message as often as its limit allows, and gives it back each time. */
export async function useUp(queue: Queue): Promise<ReceivedMessage> {
  let received!: ReceivedMessage
  for (let receives = 0; receives < MAX_RECEIVE_COUNT; receives++) {
    received = await receiveOne(queue)
    await hide(queue, received, 0)
  }
  return received
}
