import { type Kysely, sql } from 'kysely'

/** The path of a tenant's list of jobs, newest first: tombstones are on none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index jobs_listed on jobs (tenant, created_at desc, job_id desc)
    where deleted_at is null`.execute(db)
}
