import { type Kysely, sql } from 'kysely'
import type { OutboxRow } from '../../core/ports/jobs.ts'
import type { Database } from '../schema.ts'
import { insertDeadLetter } from './dead-letter.ts'
import { endJob } from './end.ts'
import { appendEvent } from './event.ts'
import { fromNow } from './time.ts'

export async function claimOutbox(
  db: Kysely<Database>,
  { token, max, leaseMs }: { token: string; max: number; leaseMs: number },
): Promise<OutboxRow[]> {
  const { rows } = await sql<OutboxRow>`
    with free as (
      select outbox_id from outbox
      where claimed_until is null or claimed_until < now()
      order by outbox_id limit ${max}
      for update skip locked
    ),
    claimed as (
      update outbox set claim_token = ${token}, claimed_until = ${fromNow(leaseMs)}, tries = tries + 1
      from free where outbox.outbox_id = free.outbox_id
      returning outbox.*
    )
    select outbox_id as "rowId", job_id as "jobId", object_key as "objectKey", generation, traceparent, tries
    from claimed join jobs using (job_id)
    order by outbox_id`.execute(db)
  return rows
}

export async function confirmPublished(
  db: Kysely<Database>,
  { token, rowIds }: { token: string; rowIds: readonly string[] },
): Promise<void> {
  await sql`
    with confirmed as (delete from outbox where ${claimed(token, rowIds)} returning job_id),
    changed as (
      update jobs set published_at = now() from confirmed where jobs.job_id = confirmed.job_id
      returning jobs.job_id, fence, attempts
    )
    ${appendEvent('published')}`.execute(db)
}

export async function returnToOutbox(
  db: Kysely<Database>,
  { token, rowIds, delayMs }: { token: string; rowIds: readonly string[]; delayMs: number },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ claim_token: null, claimed_until: fromNow(delayMs) })
    .where(claimed(token, rowIds))
    .execute()
}

export async function refusePublication(
  db: Kysely<Database>,
  { token, rowId, body, reason }: { token: string; rowId: string; body: string; reason: string },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const job = await transaction
      .selectFrom('outbox')
      .innerJoin('jobs', 'jobs.job_id', 'outbox.job_id')
      .select(['jobs.job_id', 'fence', 'generation', 'lease_until'])
      .select(sql<boolean>`status = 'RUNNING' and lease_until > now()`.as('held'))
      .where(claimed(token, [rowId]))
      .forUpdate('jobs')
      .executeTakeFirst()
    if (!job) return
    if (job.held) {
      // Its holder may end it without a message, or be gone: then this row is all that is left of the job.
      await transaction
        .updateTable('outbox')
        .set({ claim_token: null, claimed_until: job.lease_until })
        .where(claimed(token, [rowId]))
        .execute()
      return
    }
    await transaction
      .deleteFrom('outbox')
      .where(claimed(token, [rowId]))
      .execute()
    const deadLetter = { messageId: null, body, reason, receiveCount: 0 }
    const failed = await endJob(transaction, {
      jobId: job.job_id,
      by: { kind: 'sweep', fence: job.fence },
      end: { status: 'FAILED', error: { code: 'publish_refused', message: reason } },
      deadLetter,
    })
    if (!failed) {
      // Ended meanwhile, hence in no need of the message.
      const { job_id: jobId, generation } = job
      await insertDeadLetter(transaction, { ...deadLetter, jobId, generation, verdict: 'false_quarantine' })
    }
  })
}

/** Rows that are still held under the token. */
function claimed(token: string, rowIds: readonly string[]) {
  return sql<boolean>`outbox_id = any(${rowIds}::bigint[]) and claim_token = ${token}`
}
