import { DependencyError } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/clock.ts'
import {
  type EntryOutcome,
  type EntryRefusal,
  MAX_BATCH_BYTES,
  MAX_BATCH_ENTRIES,
  MAX_HIDDEN_SECONDS,
  type OutgoingMessage,
  type Queue,
  type ReceivedMessage,
} from '../../../core/ports/queue.ts'
import { createDoorbell } from './doorbell.ts'

export interface QueueRules {
  visibilitySeconds: number
  /** The receive that would pass it moves the message instead; null for a dead-letter queue. */
  redrive: { maxReceiveCount: number; to: MemoryQueue } | null
  /** Received and neither deleted nor visible again, at most (SQS: 120,000). */
  inFlightLimit: number
  retentionMs: number
}

/** What a standard queue may do to its users at any time. The default does none of it. */
export interface Mischief {
  /** Whether a message that is received stays visible, so that it is delivered twice. */
  duplicates(): boolean
  /** In how many milliseconds a deleted message comes back once more; null for never. */
  returnsInMs(): number | null
  /** Which of `count` visible messages is next. */
  next(count: number): number
}

export interface Message extends OutgoingMessage {
  messageId: string
  sentAt: number
  visibleAt: number
  receiveCount: number
  firstReceivedAt: number | null
  /** Of the newest receive. */
  receiptHandle: string | null
}

export interface MemoryQueue extends Queue {
  /** All that was sent and neither deleted nor moved. */
  messages(): readonly Message[]
  /** Takes a message in as it is, as a redrive does. */
  adopt(message: Message): void
  /** Loses every message, as an operator's purge or an emulator's restart does. */
  purge(): void
}

export interface QueueObserver {
  sent?(message: Message): void
  received?(message: Message): void
  deleted?(message: Message): void
  deadLettered?(message: Message): void
}

export const NO_MISCHIEF: Mischief = {
  duplicates: () => false,
  returnsInMs: () => null,
  next: () => 0,
}

/** SQS's standard queue in memory, each rule in its strict reading. */
export function createMemoryQueue(options: {
  clock: Clock
  rules: QueueRules
  mischief?: Mischief
  observer?: QueueObserver
}): MemoryQueue {
  const { clock, rules, mischief = NO_MISCHIEF, observer = {} } = options
  let messages: Message[] = []
  let sent = 0
  let receives = 0
  /** By receipt handle, old ones included: a delete with one of those succeeds and deletes nothing. */
  const handles = new Map<string, Message>()
  const doorbell = createDoorbell(clock)

  const isInFlight = (message: Message) => message.receiptHandle !== null && message.visibleAt > clock.now()

  function expireOld(): void {
    messages = messages.filter((message) => message.sentAt + rules.retentionMs > clock.now())
  }

  function take(max: number): ReceivedMessage[] {
    expireOld()
    const free = rules.inFlightLimit - messages.filter(isInFlight).length
    if (free <= 0) throw new DependencyError('queue', 'OverLimit: too many messages are in flight')
    const taken: ReceivedMessage[] = []
    while (taken.length < Math.min(max, free)) {
      const visible = messages.filter((message) => message.visibleAt <= clock.now())
      if (visible.length === 0) break
      const message = visible[mischief.next(visible.length)]!
      const { redrive } = rules
      if (redrive && message.receiveCount >= redrive.maxReceiveCount) {
        messages = messages.filter((other) => other !== message)
        redrive.to.adopt({ ...message, visibleAt: clock.now(), firstReceivedAt: null, receiptHandle: null })
        observer.deadLettered?.(message)
        continue
      }
      // A handle that says what it stands for makes traces readable; nobody may take it apart.
      const receiptHandle = `${message.messageId}.${++receives}`
      message.receiptHandle = receiptHandle
      message.receiveCount++
      message.firstReceivedAt ??= clock.now()
      if (!mischief.duplicates()) message.visibleAt = clock.now() + rules.visibilitySeconds * 1_000
      handles.set(receiptHandle, message)
      observer.received?.(message)
      const { messageId, body, attributes, receiveCount } = message
      taken.push({ messageId, receiptHandle, body, attributes, receiveCount })
    }
    return taken
  }

  function hide(receiptHandle: string, seconds: number): EntryOutcome {
    const message = handles.get(receiptHandle)
    if (!message || !messages.includes(message)) return refused('ReceiptHandleIsInvalid')
    if (message.receiptHandle !== receiptHandle || !isInFlight(message)) return refused('MessageNotInflight')
    const until = clock.now() + seconds * 1_000
    if (seconds > MAX_HIDDEN_SECONDS || until > message.firstReceivedAt! + MAX_HIDDEN_SECONDS * 1_000) {
      return refused('InvalidParameterValue')
    }
    message.visibleAt = until
    if (seconds === 0) doorbell.ring()
    return { ok: true }
  }

  function remove(receiptHandle: string): EntryOutcome {
    const message = handles.get(receiptHandle)
    if (!message) return refused('ReceiptHandleIsInvalid')
    if (message.receiptHandle !== receiptHandle || !messages.includes(message)) return { ok: true }
    messages = messages.filter((other) => other !== message)
    observer.deleted?.(message)
    const returnsInMs = mischief.returnsInMs()
    if (returnsInMs !== null) messages.push({ ...message, visibleAt: clock.now() + returnsInMs })
    return { ok: true }
  }

  return {
    async send(batch, signal) {
      signal.throwIfAborted()
      checkBatch(batch)
      const bytes = batch.reduce((sum, message) => sum + bytesOf(message), 0)
      if (bytes > MAX_BATCH_BYTES) throw new RangeError(`BatchRequestTooLong: ${bytes} bytes`)
      const outcomes = batch.map((outgoing) => {
        const refusal = contentRefusal(outgoing)
        if (refusal) return refusal
        const messageId = `message-${++sent}`
        const message: Message = {
          ...outgoing,
          messageId,
          sentAt: clock.now(),
          visibleAt: clock.now(),
          receiveCount: 0,
          firstReceivedAt: null,
          receiptHandle: null,
        }
        messages.push(message)
        observer.sent?.(message)
        return { ok: true as const, messageId }
      })
      doorbell.ring()
      return outcomes
    },
    async receive({ max, waitSeconds }, signal) {
      if (max < 1 || max > MAX_BATCH_ENTRIES) throw new RangeError(`max has to be 1 to 10, not ${max}`)
      const until = clock.now() + waitSeconds * 1_000
      while (true) {
        signal.throwIfAborted()
        const taken = take(max)
        if (taken.length > 0 || clock.now() >= until) return taken
        const next = Math.min(until, ...messages.map(({ visibleAt }) => visibleAt))
        await doorbell.wait(next - clock.now(), signal)
      }
    },
    async changeVisibility(changes, signal) {
      signal.throwIfAborted()
      checkBatch(changes)
      return changes.map(({ receiptHandle, seconds }) => hide(receiptHandle, seconds))
    },
    async delete(receiptHandles, signal) {
      signal.throwIfAborted()
      checkBatch(receiptHandles)
      return receiptHandles.map(remove)
    },
    async depth(signal) {
      signal.throwIfAborted()
      expireOld()
      const inFlight = messages.filter(isInFlight).length
      const visible = messages.filter((message) => message.visibleAt <= clock.now()).length
      return { visible, inFlight, delayed: messages.length - inFlight - visible }
    },
    messages: () => messages,
    adopt(message) {
      messages.push(message)
      doorbell.ring()
    },
    purge() {
      messages = []
    },
  }
}

function checkBatch(entries: readonly unknown[]): void {
  if (entries.length === 0) throw new RangeError('EmptyBatchRequest')
  if (entries.length > MAX_BATCH_ENTRIES) {
    throw new RangeError(`TooManyEntriesInBatchRequest: ${entries.length}`)
  }
}

function bytesOf({ body, attributes }: OutgoingMessage): number {
  const texts = [body, ...Object.entries(attributes).flat()]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** The characters that SQS takes are those of XML 1.0. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

function contentRefusal({ body, attributes }: OutgoingMessage): EntryRefusal | null {
  if (body === '' || NOT_XML.test(body)) return refused('InvalidMessageContents')
  if (Object.keys(attributes).length > 10) return refused('InvalidParameterValue')
  return null
}

function refused(code: string): EntryRefusal {
  return { ok: false, code, permanent: true }
}
