import type { AcceptOutcome, NewJob, Reservation, ReserveOutcome } from '../../../core/ports/jobs.ts'
import { appendEvent, type IdempotencyRecord, insertOutboxRow, recordId, type Tables } from './tables.ts'

export function reserve(
  tables: Tables,
  { tenant, key, token, leaseMs }: Reservation & { leaseMs: number },
): ReserveOutcome {
  const record = tables.idempotencyRecords.get(recordId({ tenant, key }))
  if (record?.jobId) return { kind: 'accepted', jobId: record.jobId, fingerprint: record.fingerprint! }
  if (record && record.leaseUntil >= tables.now()) {
    return { kind: 'in_progress', retryInMs: record.leaseUntil - tables.now() }
  }
  const leaseUntil = tables.now() + leaseMs
  tables.idempotencyRecords.set(recordId({ tenant, key }), {
    tenant,
    key,
    token,
    leaseUntil,
    fingerprint: null,
    jobId: null,
  })
  return { kind: 'reserved' }
}

export function renewReservation(
  tables: Tables,
  { leaseMs, ...reservation }: Reservation & { leaseMs: number },
): boolean {
  const record = held(tables, reservation)
  if (!record) return false
  record.leaseUntil = tables.now() + leaseMs
  return true
}

export function releaseReservation(tables: Tables, reservation: Reservation): void {
  if (held(tables, reservation)) tables.idempotencyRecords.delete(recordId(reservation))
}

export function accept(tables: Tables, job: NewJob): AcceptOutcome {
  const { jobId, tenant, idempotency } = job
  const record = idempotency && held(tables, { tenant, ...idempotency })
  if (idempotency && !record) return { kind: 'reservation_lost' }
  if (tables.jobs.has(jobId)) throw new Error(`duplicate key: there is a job ${jobId}`)
  if (record && idempotency) Object.assign(record, { jobId, fingerprint: idempotency.fingerprint })
  const now = tables.now()
  const row = {
    jobId,
    tenant,
    status: 'QUEUED' as const,
    fence: 0,
    attempts: 0,
    generation: 1,
    runAt: now,
    publishedAt: null,
    claimedAt: null,
    leaseOwner: null,
    leaseUntil: null,
    objectKey: job.objectKey,
    original: structuredClone(job.original),
    options: structuredClone(job.options),
    warnings: structuredClone(job.warnings),
    outputs: null,
    result: null,
    error: null,
    lastError: null,
    republications: 0,
    republishedAt: null,
    redrivenGeneration: 0,
    createdAt: now,
    deadlineAt: now + job.deadlineMs,
    finishedAt: null,
    deletedAt: null,
    objectsDeletedAt: null,
    callbackUrl: job.callbackUrl,
    traceparent: job.traceparent,
  }
  tables.jobs.set(jobId, row)
  insertOutboxRow(tables, jobId)
  appendEvent(tables, 'accepted', row)
  return { kind: 'accepted', createdAt: new Date(now), deadlineAt: new Date(row.deadlineAt) }
}

/** The record, while it is still this upload's and has no job. */
function held(tables: Tables, reservation: Reservation): IdempotencyRecord | null {
  const record = tables.idempotencyRecords.get(recordId(reservation))
  return record && record.token === reservation.token && record.jobId === null ? record : null
}
