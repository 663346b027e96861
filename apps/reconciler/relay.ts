import { backoffMs } from '../../core/backoff.ts'
import { withDeadline } from '../../core/deadline.ts'
import { encodeJobMessage } from '../../core/job-message.ts'
import { messageBytes } from '../../core/message-rules.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs, OutboxRow } from '../../core/ports/jobs.ts'
import {
  MAX_BATCH_BYTES,
  MAX_BATCH_ENTRIES,
  type OutgoingMessage,
  type Queue,
} from '../../core/ports/queue.ts'
import type { Random } from '../../core/ports/random.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'

export interface RelayParts {
  jobs: Jobs
  queue: Queue
  clock: Clock
  random: Random
  timing: Timing
  log: Log
}

/** Rows that one turn claims at most. */
export const RELAY_ROWS = 100

interface Publication {
  row: OutboxRow
  message: OutgoingMessage
}

/**
 * One turn of the relay: claims outbox rows, sends them, and removes exactly those that the queue confirmed. No
 * transaction is open while the network is. A relay that stalls past its claim sends duplicates, which the claim on
 * the job makes harmless; its confirmation then removes nothing, because the rows carry another token.
 *
 * @returns how many rows were claimed; {@link RELAY_ROWS} means that there may be more
 * @throws what kept the queue from answering, once the rows are given back
 */
export async function relayTurn(parts: RelayParts): Promise<number> {
  const { jobs, random, timing } = parts
  const token = Buffer.from(random.bytes(16)).toString('hex')
  const rows = await jobs.claimOutbox({ token, max: RELAY_ROWS, leaseMs: timing.outboxLeaseMs })
  const publications = rows.map((row) => ({ row, message: encodeJobMessage(row) }))
  const failures = await Promise.all(batches(publications).map((batch) => publish(parts, token, batch)))
  const failure = failures.find((error) => error !== null)
  if (failure) throw failure
  return rows.length
}

/** @returns what kept the queue from answering; null when it answered, whatever it said */
async function publish(parts: RelayParts, token: string, batch: Publication[]): Promise<Error | null> {
  let unanswered: Error | null = null
  const { jobs, queue, clock, random, timing, log } = parts
  const messages = batch.map(({ message }) => message)
  const outcomes = await withDeadline(clock, timing.callMs, undefined, (signal) =>
    queue.send(messages, signal),
  ).catch((error: Error) => {
    // Sent or not, nobody knows. All of it is sent again: a broker's outage parks nothing.
    unanswered = error
    return batch.map(() => ({ ok: false as const, code: 'no_answer', permanent: false }))
  })

  const confirmed: string[] = []
  const again: OutboxRow[] = []
  for (const [i, { row, message }] of batch.entries()) {
    const outcome = outcomes[i]
    if (outcome?.ok) {
      confirmed.push(row.rowId)
      log.info({ job_id: row.jobId, message_id: outcome.messageId }, 'published')
    } else if (outcome?.permanent) {
      log.error({ job_id: row.jobId, code: outcome.code }, 'publication refused for good')
      const reason = `the queue refuses the message: ${outcome.code}`
      await jobs.refusePublication({ token, rowId: row.rowId, body: message.body, reason })
    } else {
      again.push(row)
    }
  }
  if (confirmed.length > 0) await jobs.confirmPublished({ token, rowIds: confirmed })
  if (again.length > 0) {
    const tries = Math.max(...again.map((row) => row.tries))
    const delayMs = backoffMs(random, tries, { baseMs: timing.backoffBaseMs, capMs: timing.outboxLeaseMs })
    await jobs.returnToOutbox({ token, rowIds: again.map((row) => row.rowId), delayMs })
  }
  return unanswered
}

/** Splits by count and by bytes: a batch over the broker's limit is refused as a whole. */
function batches(publications: readonly Publication[]): Publication[][] {
  const result: Publication[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const publication of publications) {
    const size = messageBytes(publication.message)
    const last = result.at(-1)
    if (!last || last.length === MAX_BATCH_ENTRIES || bytes + size > MAX_BATCH_BYTES) {
      result.push([publication])
      bytes = size
    } else {
      last.push(publication)
      bytes += size
    }
  }
  return result
}
