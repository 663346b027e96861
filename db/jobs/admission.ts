import { type Kysely, sql } from 'kysely'
import type { AcceptOutcome, NewJob, Reservation, ReserveOutcome } from '../../core/ports/jobs.ts'
import type { Database } from '../schema.ts'
import { appendEvent } from './event.ts'
import { fromNow } from './time.ts'

export async function reserve(
  db: Kysely<Database>,
  { tenant, key, token, leaseMs }: Reservation & { leaseMs: number },
): Promise<ReserveOutcome> {
  const taken = await db
    .insertInto('idempotency_records')
    .values({ tenant, key, token, lease_until: fromNow(leaseMs) })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'key'])
        .doUpdateSet({ token, lease_until: fromNow(leaseMs) })
        .where('idempotency_records.job_id', 'is', null)
        .where('idempotency_records.lease_until', '<', sql<Date>`now()`),
    )
    .returning('token')
    .executeTakeFirst()
  if (taken) return { kind: 'reserved' }
  const holder = await db
    .selectFrom('idempotency_records')
    .select(['job_id', 'fingerprint'])
    .select(
      sql<number>`greatest(0, ceil(1000 * extract(epoch from lease_until - now())))::double precision`.as(
        'retry_in_ms',
      ),
    )
    .where('tenant', '=', tenant)
    .where('key', '=', key)
    .executeTakeFirst()
  if (holder?.job_id && holder.fingerprint) {
    return { kind: 'accepted', jobId: holder.job_id, fingerprint: holder.fingerprint }
  }
  // No holder at all: it freed the key between the two statements.
  return { kind: 'in_progress', retryInMs: holder?.retry_in_ms ?? 0 }
}

export async function renewReservation(
  db: Kysely<Database>,
  { leaseMs, ...reservation }: Reservation & { leaseMs: number },
): Promise<boolean> {
  const renewed = await db
    .updateTable('idempotency_records')
    .set({ lease_until: fromNow(leaseMs) })
    .where(held(reservation))
    .returning('token')
    .executeTakeFirst()
  return renewed !== undefined
}

export async function releaseReservation(db: Kysely<Database>, reservation: Reservation): Promise<void> {
  await db.deleteFrom('idempotency_records').where(held(reservation)).execute()
}

export async function accept(db: Kysely<Database>, job: NewJob): Promise<AcceptOutcome> {
  const { idempotency } = job
  const record = idempotency
    ? sql`update idempotency_records set job_id = ${job.jobId}, fingerprint = ${idempotency.fingerprint}
        where ${held({ tenant: job.tenant, ...idempotency })} returning job_id`
    : sql`select ${job.jobId}::text as job_id`
  // The job is inserted *from* the record: without the reservation there is no job, no outbox row and no event.
  const { rows } = await sql<{ createdAt: Date; deadlineAt: Date }>`
    with record as (${record}),
    changed as (
      insert into jobs
        (job_id, tenant, status, object_key, original, options, warnings, deadline_at, callback_url, traceparent)
      select job_id, ${job.tenant}, 'QUEUED', ${job.objectKey}, ${JSON.stringify(job.original)}::jsonb,
        ${JSON.stringify(job.options)}::jsonb, ${JSON.stringify(job.warnings)}::jsonb, ${fromNow(job.deadlineMs)},
        ${job.callbackUrl}, ${job.traceparent}
      from record
      returning job_id, fence, attempts, created_at, deadline_at
    ),
    outbox_row as (insert into outbox (job_id) select job_id from changed),
    event as (${appendEvent('accepted')})
    select created_at as "createdAt", deadline_at as "deadlineAt" from changed`.execute(db)
  return rows[0] ? { kind: 'accepted', ...rows[0] } : { kind: 'reservation_lost' }
}

/** The record is still this upload's, and has no job. */
function held({ tenant, key, token }: Reservation) {
  return sql<boolean>`tenant = ${tenant} and key = ${key} and token = ${token} and job_id is null`
}
