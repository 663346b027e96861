import { type Kysely, sql } from 'kysely'
import { deleted } from '../../core/job-ends.ts'
import type { Database } from '../schema.ts'
import { endJob } from './end.ts'
import { appendEvent } from './event.ts'
import { fromNow } from './time.ts'

export function bury(db: Kysely<Database>, jobId: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    await endJob(transaction, { jobId, by: { kind: 'owner' }, ...deleted() })
    await buryWhere(transaction, sql<boolean>`job_id = ${jobId} and deleted_at is null`)
    const job = await transaction
      .selectFrom('jobs')
      .select('job_id')
      .where('job_id', '=', jobId)
      .executeTakeFirst()
    return job !== undefined
  })
}

export function buryFinished(
  db: Kysely<Database>,
  { ageMs, max }: { ageMs: number; max: number },
): Promise<string[]> {
  return buryWhere(
    db,
    sql<boolean>`job_id in (
      select job_id from jobs where finished_at < ${fromNow(-ageMs)} and deleted_at is null
      order by finished_at limit ${max} for update skip locked
    )`,
  )
}

async function buryWhere(db: Kysely<Database>, which: ReturnType<typeof sql<boolean>>): Promise<string[]> {
  const { rows } = await sql<{ job_id: string }>`
    with changed as (
      update jobs set deleted_at = now() where ${which} returning job_id, fence, attempts
    ),
    event as (${appendEvent('buried')})
    select job_id from changed`.execute(db)
  return rows.map((row) => row.job_id)
}

export async function tombstonesWithObjects(
  db: Kysely<Database>,
  { max }: { max: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('job_id')
    .where('deleted_at', 'is not', null)
    .where('objects_deleted_at', 'is', null)
    .orderBy('deleted_at')
    .limit(max)
    .execute()
  return rows.map((row) => row.job_id)
}

export async function confirmObjectsGone(db: Kysely<Database>, jobIds: readonly string[]): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ objects_deleted_at: sql<Date>`now()` })
    .where(among(jobIds))
    .where('deleted_at', 'is not', null)
    .execute()
}

export async function oldTombstones(
  db: Kysely<Database>,
  { ageMs, max }: { ageMs: number; max: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('job_id')
    .where('deleted_at', '<', fromNow(-ageMs))
    .orderBy('deleted_at')
    .limit(max)
    .execute()
  return rows.map((row) => row.job_id)
}

export async function forget(db: Kysely<Database>, jobIds: readonly string[]): Promise<void> {
  // Events, markers, outbox row and idempotency record go with the row, by their references.
  await db.deleteFrom('jobs').where(among(jobIds)).where('deleted_at', 'is not', null).execute()
}

export async function forgetReservations(db: Kysely<Database>, { ageMs }: { ageMs: number }): Promise<void> {
  await db
    .deleteFrom('idempotency_records')
    .where('job_id', 'is', null)
    .where('lease_until', '<', fromNow(-ageMs))
    .execute()
}

export async function existing(db: Kysely<Database>, jobIds: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('jobs').select('job_id').where(among(jobIds)).execute()
  return rows.map((row) => row.job_id)
}

/** Not `in (…)`, which Postgres does not take with nothing in it. */
function among(jobIds: readonly string[]) {
  return sql<boolean>`job_id = any(${jobIds}::text[])`
}
