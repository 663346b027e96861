/**
 * A queue with the semantics of SQS standard queues: at least once, in no promised order. A message that was received
 * is hidden for its visibility timeout and comes back unless it was deleted; each receive gives a new receipt handle
 * and raises the receive count; the receive that would pass the queue's `maxReceiveCount` moves the message to the
 * dead-letter queue instead.
 *
 * Every call has a deadline in its `signal`. A call that rejects may have had its effect: the broker could not be
 * reached, or its answer was lost.
 */
export interface Queue {
  /**
   * Sends 1–10 messages, {@link MAX_BATCH_BYTES} in all at most. The outcomes stand in the order of the messages; one
   * message's refusal says nothing about the others.
   */
  send(messages: readonly OutgoingMessage[], signal: AbortSignal): Promise<SendOutcome[]>

  /**
   * Waits up to `waitSeconds` (0–20) for at least one message and returns at most `max` (1–10) of them.
   * The messages are hidden for the queue's visibility timeout from now on.
   * `until` ends the wait early, with an empty answer, where that loses nothing. SQS waits on: it may hand a message to
   * a request that was just cut.
   */
  receive(
    options: { max: number; waitSeconds: number; until?: AbortSignal },
    signal: AbortSignal,
  ): Promise<ReceivedMessage[]>

  /**
   * Hides 1–10 received messages for `seconds` (0–43,200) from now on; 0 gives a message back at once. Refused for a
   * receipt handle that is no longer in flight, and past 12 hours from the message's receive (SQS's ceiling).
   */
  changeVisibility(
    changes: readonly { receiptHandle: string; seconds: number }[],
    signal: AbortSignal,
  ): Promise<EntryOutcome[]>

  /**
   * Deletes 1–10 received messages. An old receipt handle may be answered with success and delete nothing: only the
   * newest handle of a message is sure to delete it.
   */
  delete(receiptHandles: readonly string[], signal: AbortSignal): Promise<EntryOutcome[]>

  /** How many messages there are, by state. Approximate on SQS, hence never proof of anything by itself. */
  depth(signal: AbortSignal): Promise<QueueDepth>
}

/** The two queues of the service: jobs, and what was received too often to be tried again. */
export interface Queues {
  jobs: Queue
  deadLetters: Queue
}

export interface OutgoingMessage {
  body: string
  /** Metadata beside the body; at most 10, names of letters, digits, `_`, `-` and `.`. */
  attributes: Readonly<Record<string, string>>
}

export interface ReceivedMessage {
  /** Given by the broker when the message was sent; the same in the dead-letter queue. */
  messageId: string
  /** Of this receive, not of the message. */
  receiptHandle: string
  body: string
  attributes: Readonly<Record<string, string>>
  /** How often it has been received, this time included; 1 for the first. */
  receiveCount: number
}

export type SendOutcome = { ok: true; messageId: string } | EntryRefusal
export type EntryOutcome = { ok: true } | EntryRefusal

export interface EntryRefusal {
  ok: false
  /** The broker's own code, for people. */
  code: string
  /** Whether the same entry would be refused again however often it is tried. */
  permanent: boolean
}

export interface QueueDepth {
  /** Ready to be received. */
  visible: number
  /** Received and neither deleted nor visible again. */
  inFlight: number
  /** Sent with a delay that has not passed. */
  delayed: number
}

/** Entries that one batch call takes (SQS: SendMessageBatch and its siblings). */
export const MAX_BATCH_ENTRIES = 10
/** Bytes of all bodies and attributes that one send takes (SQS: 1 MiB since August 2025; 256 KiB before, and elsewhere). */
export const MAX_BATCH_BYTES = 262_144
/** The longest time that a message can be kept from others, counted from its receive (SQS: 12 hours). */
export const MAX_HIDDEN_SECONDS = 43_200
