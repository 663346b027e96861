import type { OutboxRow, Publishing } from '../../../core/ports/jobs.ts'
import { appendEvent, insertDeadLetter, type OutboxTableRow, type Tables, toJob } from './tables.ts'
import { endJob } from './work.ts'

type Arguments<Method extends keyof Publishing> = Parameters<Publishing[Method]>[0]

export function claimOutbox(tables: Tables, { token, max, leaseMs }: Arguments<'claimOutbox'>): OutboxRow[] {
  return [...tables.outbox.values()]
    .filter((row) => row.claimedUntil === null || row.claimedUntil < tables.now())
    .sort((a, b) => a.outboxId - b.outboxId)
    .slice(0, max)
    .map((row) => {
      Object.assign(row, { claimToken: token, claimedUntil: tables.now() + leaseMs, tries: row.tries + 1 })
      const { objectKey, generation, traceparent } = tables.jobs.get(row.jobId)!
      return {
        rowId: String(row.outboxId),
        jobId: row.jobId,
        objectKey,
        generation,
        traceparent,
        tries: row.tries,
      }
    })
}

export function confirmPublished(tables: Tables, { token, rowIds }: Arguments<'confirmPublished'>): void {
  for (const { jobId } of claimed(tables, token, rowIds)) {
    tables.outbox.delete(jobId)
    const job = tables.jobs.get(jobId)!
    job.publishedAt = tables.now()
    appendEvent(tables, 'published', job)
  }
}

export function returnToOutbox(
  tables: Tables,
  { token, rowIds, delayMs }: Arguments<'returnToOutbox'>,
): void {
  for (const row of claimed(tables, token, rowIds)) {
    Object.assign(row, { claimToken: null, claimedUntil: tables.now() + delayMs })
  }
}

export function refusePublication(
  tables: Tables,
  { token, rowId, body, reason }: Arguments<'refusePublication'>,
): void {
  const row = claimed(tables, token, [rowId])[0]
  if (!row) return
  const { jobId } = row
  const job = tables.jobs.get(jobId)!
  if (toJob(tables, job).held) {
    row.claimToken = null
    row.claimedUntil = job.leaseUntil
    return
  }
  const { fence, generation } = job
  tables.outbox.delete(jobId)
  const deadLetter = { messageId: null, body, reason, receiveCount: 0 }
  const failed = endJob(tables, {
    jobId,
    by: { kind: 'sweep', fence },
    end: { status: 'FAILED', error: { code: 'publish_refused', message: reason } },
    deadLetter,
  })
  if (!failed) insertDeadLetter(tables, { ...deadLetter, jobId, generation, verdict: 'false_quarantine' })
}

function claimed(tables: Tables, token: string, rowIds: readonly string[]): OutboxTableRow[] {
  return [...tables.outbox.values()].filter(
    (row) => row.claimToken === token && rowIds.includes(String(row.outboxId)),
  )
}
