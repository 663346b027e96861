import { decodeJobMessage } from '../../../core/job-message.ts'
import type { Message } from '../memory/memory-queue.ts'
import type { Tables } from '../memory/tables.ts'
import type { Report } from './violation.ts'

/** Invariant 8: whether the message may go now. */
export function checkDeletion(
  tables: Tables,
  queue: 'jobs' | 'dead letters',
  message: Message,
  report: Report,
): void {
  if (tables.deadLetters.some(({ messageId }) => messageId === message.messageId)) return
  if (queue === 'dead letters') {
    report('deleted_when_durable', `dead letter ${message.messageId} was deleted without a record`)
    return
  }
  const decoded = decodeJobMessage(message)
  const named = decoded.ok ? decoded.message : null
  const job = named && tables.jobs.get(named.jobId)
  if (named && !job) return
  // A message owes nothing to a generation that came after it.
  const ended = named && tables.processedOperations.has(`${named.jobId}/${named.generation}`)
  if (!ended) {
    report(
      'deleted_when_durable',
      `${message.messageId} was deleted while ${job?.jobId ?? 'its job'} is ${job?.status ?? 'unknown'}`,
    )
  }
}

export function jobOf(message: {
  body: string
  attributes: Readonly<Record<string, string>>
}): string | null {
  const decoded = decodeJobMessage(message)
  return decoded.ok ? decoded.message.jobId : null
}
