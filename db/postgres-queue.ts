import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { DependencyError } from '../core/errors.ts'
import { assertBatch, refuseMessage } from '../core/message-rules.ts'
import { orAborted } from '../core/or-aborted.ts'
import {
  type EntryOutcome,
  type EntryRefusal,
  MAX_HIDDEN_SECONDS,
  type OutgoingMessage,
  type Queue,
  type QueueDepth,
  type Queues,
  type ReceivedMessage,
} from '../core/ports/queue.ts'
import type { Database } from './schema.ts'

export interface PostgresQueueOptions {
  /** How long a receive hides a message. */
  visibilitySeconds: number
  /** The receive that would pass it moves the message to the dead letters instead. Defaults to 50. */
  maxReceiveCount?: number
  /** How long a message is kept from its sending on, wherever it lies by then. */
  retentionMs: number
  deadLetterRetentionMs: number
}

/**
 * The `Queue` port on the table `queue_messages`, with the semantics of SQS. A call that its signal ended rejects with
 * the signal's reason; its statement may have its effect yet.
 *
 * A receive that waits asks four times a second, and holds no connection meanwhile.
 */
export function openPostgresQueues(db: Kysely<Database>, options: PostgresQueueOptions): Queues {
  const { visibilitySeconds, maxReceiveCount = 50, retentionMs, deadLetterRetentionMs } = options
  return {
    jobs: createQueue(db, {
      name: 'jobs',
      visibilitySeconds,
      retentionMs,
      redrive: { maxReceiveCount, to: 'dead_letters' },
    }),
    deadLetters: createQueue(db, {
      name: 'dead_letters',
      visibilitySeconds,
      retentionMs: deadLetterRetentionMs,
      redrive: null,
    }),
  }
}

interface QueueRules {
  name: string
  visibilitySeconds: number
  retentionMs: number
  redrive: { maxReceiveCount: number; to: string } | null
}

function createQueue(db: Kysely<Database>, rules: QueueRules): Queue {
  const { name, retentionMs } = rules
  let expireAfter = 0

  async function run<Row>(query: RawBuilder<Row>, signal: AbortSignal): Promise<Row[]> {
    try {
      signal.throwIfAborted()
      return (await orAborted(query.execute(db), signal)).rows
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw new DependencyError('queue', `the queue's table did not answer: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }

  /** Now and then, by whoever receives: a message may outlive its retention by a minute, as it may on SQS. */
  async function expire(signal: AbortSignal): Promise<void> {
    if (performance.now() < expireAfter) return
    expireAfter = performance.now() + EXPIRE_EVERY_MS
    await run(
      sql`delete from queue_messages
        where queue_name = ${name} and sent_at < now() - ${retentionMs}::double precision * interval '1 millisecond'`,
      signal,
    )
  }

  return {
    async send(messages, signal) {
      assertBatch(messages)
      const entries = messages.map((message) => ({
        message,
        id: randomUUID(),
        refusal: refuseMessage(message),
      }))
      const rows = entries
        .filter(({ refusal }) => !refusal)
        .map(({ id, message }) => insertable(name, id, message))
      if (rows.length > 0) {
        await run(
          sql`insert into queue_messages (message_id, queue_name, body, attributes) values ${sql.join(rows)}`,
          signal,
        )
      }
      return entries.map(({ id, refusal }) => refusal ?? { ok: true, messageId: id })
    },

    async receive({ max, waitSeconds, until }, signal) {
      const waitEnds = performance.now() + waitSeconds * 1_000
      const cut = until ? AbortSignal.any([signal, until]) : signal
      await expire(signal)
      while (true) {
        const [claim] = await run(claimVisible(rules, max), signal)
        if (claim!.messages.length > 0) return claim!.messages
        const left = waitEnds - performance.now()
        if (claim!.moved > 0) continue
        if (left <= 0 || until?.aborted) return []
        await delay(Math.min(POLL_MS, left), undefined, { signal: cut }).catch(() => signal.throwIfAborted())
      }
    },

    async changeVisibility(changes, signal) {
      assertBatch(changes)
      const held = await run(hide(name, changes), signal)
      const allowed = new Map(held.map((row) => [row.index, row.allowed]))
      return changes.map((_, index): EntryOutcome => {
        if (!allowed.has(index)) return refused('MessageNotInflight')
        return allowed.get(index) ? { ok: true } : refused('InvalidParameterValue')
      })
    },

    async delete(receiptHandles, signal) {
      assertBatch(receiptHandles)
      await run(
        sql`with ${wanted(receiptHandles.map((receiptHandle) => ({ receiptHandle, seconds: 0 })))}
          delete from queue_messages m using wanted w
          where m.message_id = w.message_id and m.receipt_handle = w.receipt_handle and m.queue_name = ${name}`,
        signal,
      )
      return receiptHandles.map(() => ({ ok: true }))
    },

    async depth(signal) {
      const [depth] = await run(
        sql<QueueDepth>`select
            count(*) filter (where visible_at <= now())::integer as "visible",
            count(*) filter (where visible_at > now() and receipt_handle is not null)::integer as "inFlight",
            count(*) filter (where visible_at > now() and receipt_handle is null)::integer as "delayed"
          from queue_messages where queue_name = ${name}`,
        signal,
      )
      return depth!
    },
  }
}

const POLL_MS = 250
const EXPIRE_EVERY_MS = 60_000

function insertable(name: string, id: string, { body, attributes }: OutgoingMessage): RawBuilder<unknown> {
  return sql`(${id}::uuid, ${name}, ${body}, ${JSON.stringify(attributes)}::jsonb)`
}

/**
 * Takes up to `max` visible messages, longest visible first: those that were received too often go to the dead letters,
 * the others are hidden under a new receipt handle. What another receive is just taking is skipped, not waited for.
 */
function claimVisible({ name, visibilitySeconds, redrive }: QueueRules, max: number) {
  const maxReceiveCount = redrive?.maxReceiveCount ?? 2 ** 31 - 1
  return sql<{ moved: number; messages: ReceivedMessage[] }>`
    with due as (
      select message_id, receive_count from queue_messages
      where queue_name = ${name} and visible_at <= now()
      order by visible_at limit ${max}
      for update skip locked
    ),
    moved as (
      update queue_messages m
      set queue_name = ${redrive?.to ?? name}, visible_at = now(), receipt_handle = null, received_at = null
      from due where m.message_id = due.message_id and due.receive_count >= ${maxReceiveCount}
      returning 1
    ),
    taken as (
      update queue_messages m
      set visible_at = now() + ${visibilitySeconds}::double precision * interval '1 second',
        receive_count = m.receive_count + 1, receipt_handle = gen_random_uuid(), received_at = now()
      from due where m.message_id = due.message_id and due.receive_count < ${maxReceiveCount}
      returning m.*
    )
    select
      (select count(*)::integer from moved) as moved,
      (select coalesce(jsonb_agg(jsonb_build_object(
        'messageId', message_id, 'receiptHandle', message_id || '/' || receipt_handle,
        'body', body, 'attributes', attributes, 'receiveCount', receive_count
      )), '[]') from taken) as messages`
}

/** Which of the changes met a message in flight, and whether it may be hidden for that long. */
function hide(name: string, changes: readonly { receiptHandle: string; seconds: number }[]) {
  return sql<{ index: number; allowed: boolean }>`
    with ${wanted(changes)},
    held as (
      select w.index, m.message_id, w.until,
        w.until <= m.received_at + ${MAX_HIDDEN_SECONDS}::double precision * interval '1 second' as allowed
      from wanted w join queue_messages m on m.message_id = w.message_id and m.receipt_handle = w.receipt_handle
      where m.queue_name = ${name} and m.visible_at > now()
      for update of m
    ),
    changed as (
      update queue_messages m set visible_at = held.until from held
      where m.message_id = held.message_id and held.allowed
    )
    select index, allowed from held`
}

/** The entries of a batch as rows. A receipt handle is `<message id>/<of the receive>`; what is none finds nothing. */
function wanted(entries: readonly { receiptHandle: string; seconds: number }[]): RawBuilder<unknown> {
  const rows = entries.map(({ receiptHandle, seconds }, index) => {
    const [messageId, handle] = RECEIPT_HANDLE.exec(receiptHandle)?.slice(1) ?? [null, null]
    return sql`(${index}::integer, ${messageId}::uuid, ${handle}::uuid,
      now() + ${seconds}::double precision * interval '1 second')`
  })
  return sql`wanted (index, message_id, receipt_handle, until) as (values ${sql.join(rows)})`
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const RECEIPT_HANDLE = new RegExp(`^(${UUID})/(${UUID})$`)

function refused(code: string): EntryRefusal {
  return { ok: false, code, permanent: true }
}
