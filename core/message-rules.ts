import { type EntryRefusal, MAX_BATCH_BYTES, MAX_BATCH_ENTRIES, type OutgoingMessage } from './ports/queue.ts'

/**
 * Why no queue would ever take this message, or null. Every queue of the project asks here before it sends, so that
 * each refuses the same messages, and so that one of them never costs the others of its batch: SQS answers an
 * oversized entry by refusing the whole call, and Postgres answers a NUL the same way.
 */
export function refuseMessage(message: OutgoingMessage): EntryRefusal | null {
  const { body, attributes } = message
  if (!isText(body)) return refusal('InvalidMessageContents')
  if (messageBytes(message) > MAX_BATCH_BYTES) return refusal('MessageTooLong')
  const entries = Object.entries(attributes)
  if (entries.length > MAX_ATTRIBUTES) return refusal('InvalidParameterValue')
  for (const [name, value] of entries) {
    if (!ATTRIBUTE_NAME.test(name) || !isText(value)) return refusal('InvalidParameterValue')
  }
  return null
}

/** What a message counts towards {@link MAX_BATCH_BYTES}: its body, and each attribute's name, type and value. */
export function messageBytes({ body, attributes }: OutgoingMessage): number {
  const texts = [body, ...Object.entries(attributes).flatMap(([name, value]) => [name, 'String', value])]
  return texts.reduce((sum, text) => sum + new TextEncoder().encode(text).byteLength, 0)
}

/** @throws {RangeError} for a batch that no queue takes: a defect of the caller's, not of an entry */
export function assertBatch(entries: readonly unknown[]): void {
  if (entries.length >= 1 && entries.length <= MAX_BATCH_ENTRIES) return
  throw new RangeError(`a batch has 1 to ${MAX_BATCH_ENTRIES} entries, not ${entries.length}`)
}

function refusal(code: string): EntryRefusal {
  return { ok: false, code, permanent: true }
}

function isText(text: string): boolean {
  return text !== '' && !UNSENDABLE.test(text)
}

const MAX_ATTRIBUTES = 10
const ATTRIBUTE_NAME = /^[A-Za-z0-9_.-]{1,256}$/
/** What SQS takes are the characters of XML 1.0; a lone surrogate is none of them. */
const UNSENDABLE = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u
