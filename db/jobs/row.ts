import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import { DEFAULT_OPTIONS, type Job } from '../../core/job.ts'
import type { Database, JobsTable } from '../schema.ts'
import { toOutput } from './stored-output.ts'

/** A job's row with what only the database's clock can say of it. */
export interface JobRow extends Selectable<JobsTable> {
  held: boolean
  claimable_in_ms: number
}

/** The columns of a {@link JobRow}, read from the table or part named `jobs` or `changed`. */
export const JOB_COLUMNS: RawBuilder<JobRow> = sql<JobRow>`*,
  (status = 'RUNNING' and lease_until > now()) as held,
  greatest(0, ceil(1000 * extract(epoch from
    (case when status = 'RUNNING' then lease_until else run_at end) - now())))::double precision as claimable_in_ms`

export async function findJob(db: Kysely<Database>, jobId: string): Promise<Job | null> {
  const { rows } = await sql<JobRow>`select ${JOB_COLUMNS} from jobs where job_id = ${jobId}`.execute(db)
  return rows[0] ? toJob(rows[0]) : null
}

export function toJob(row: JobRow): Job {
  return {
    jobId: row.job_id,
    tenant: row.tenant,
    status: row.status,
    fence: row.fence,
    attempts: row.attempts,
    generation: row.generation,
    runAt: row.run_at,
    publishedAt: row.published_at,
    leaseUntil: row.lease_until,
    held: row.held,
    claimableInMs: row.claimable_in_ms,
    objectKey: row.object_key,
    original: row.original,
    options: row.options ?? DEFAULT_OPTIONS,
    warnings: row.warnings,
    outputs: row.outputs?.map(toOutput) ?? null,
    result: row.result,
    error: row.error_code && { code: row.error_code, message: row.error_message ?? '' },
    lastError: row.last_error_code && { code: row.last_error_code, message: row.last_error_message ?? '' },
    createdAt: row.created_at,
    deadlineAt: row.deadline_at,
    finishedAt: row.finished_at,
    deletedAt: row.deleted_at,
  }
}
