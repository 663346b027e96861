import { deleted } from '../../../core/job-ends.ts'
import type { Sweeps } from '../../../core/ports/jobs.ts'
import { appendEvent, type JobRow, type Tables } from './tables.ts'
import { endJob } from './work.ts'

type Arguments<Method extends keyof Sweeps> = Parameters<Sweeps[Method]>[0]

export function bury(tables: Tables, jobId: string): boolean {
  endJob(tables, { jobId, by: { kind: 'owner' }, ...deleted() })
  const row = tables.jobs.get(jobId)
  if (row && row.deletedAt === null) buryRow(tables, row)
  return row !== undefined
}

export function buryFinished(tables: Tables, { ageMs, max }: Arguments<'buryFinished'>): string[] {
  return [...tables.jobs.values()]
    .filter(
      ({ finishedAt, deletedAt }) =>
        finishedAt !== null && deletedAt === null && isOlder(tables, finishedAt, ageMs),
    )
    .sort((a, b) => a.finishedAt! - b.finishedAt!)
    .slice(0, max)
    .map((row) => buryRow(tables, row))
}

function buryRow(tables: Tables, row: JobRow): string {
  row.deletedAt = tables.now()
  appendEvent(tables, 'buried', row)
  return row.jobId
}

export function tombstonesWithObjects(tables: Tables, { max }: Arguments<'tombstonesWithObjects'>): string[] {
  return oldestTombstones(tables, max, ({ objectsDeletedAt }) => objectsDeletedAt === null)
}

export function confirmObjectsGone(tables: Tables, jobIds: readonly string[]): void {
  for (const row of tombstones(tables, jobIds)) row.objectsDeletedAt = tables.now()
}

export function oldTombstones(tables: Tables, { ageMs, max }: Arguments<'oldTombstones'>): string[] {
  return oldestTombstones(tables, max, ({ deletedAt }) => isOlder(tables, deletedAt!, ageMs))
}

export function forget(tables: Tables, jobIds: readonly string[]): void {
  const gone = new Set(tombstones(tables, jobIds).map(({ jobId }) => jobId))
  for (const jobId of gone) {
    tables.jobs.delete(jobId)
    tables.outbox.delete(jobId)
  }
  for (const [id, { jobId }] of tables.idempotencyRecords) {
    if (jobId && gone.has(jobId)) tables.idempotencyRecords.delete(id)
  }
  for (const [id, { jobId }] of tables.processedOperations) {
    if (gone.has(jobId)) tables.processedOperations.delete(id)
  }
  for (const [id, { jobId }] of tables.callbacks) {
    if (gone.has(jobId)) tables.callbacks.delete(id)
  }
  tables.jobEvents = tables.jobEvents.filter(({ jobId }) => !gone.has(jobId))
}

export function forgetReservations(tables: Tables, { ageMs }: Arguments<'forgetReservations'>): void {
  for (const [id, { jobId, leaseUntil }] of tables.idempotencyRecords) {
    if (jobId === null && isOlder(tables, leaseUntil, ageMs)) tables.idempotencyRecords.delete(id)
  }
}

export function existing(tables: Tables, jobIds: readonly string[]): string[] {
  return [...new Set(jobIds)].filter((jobId) => tables.jobs.has(jobId))
}

function tombstones(tables: Tables, jobIds: readonly string[]): JobRow[] {
  return jobIds
    .map((jobId) => tables.jobs.get(jobId))
    .filter((row) => row !== undefined)
    .filter(({ deletedAt }) => deletedAt !== null)
}

function oldestTombstones(tables: Tables, max: number, which: (row: JobRow) => boolean): string[] {
  return [...tables.jobs.values()]
    .filter((row) => row.deletedAt !== null && which(row))
    .sort((a, b) => a.deletedAt! - b.deletedAt!)
    .slice(0, max)
    .map(({ jobId }) => jobId)
}

function isOlder(tables: Tables, at: number, ageMs: number): boolean {
  return at < tables.now() - ageMs
}
