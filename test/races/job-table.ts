import { type Kysely, type KyselyPlugin, sql } from 'kysely'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import { mintJobId } from '../../core/job-id.ts'
import type { ClaimOutcome, Jobs, NewJob } from '../../core/ports/jobs.ts'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import type { Database } from '../../db/schema.ts'
import { systemClock } from '../../infra/system-clock.ts'
import { systemRandom } from '../../infra/system-random.ts'
import { createTestDatabase } from '../database.ts'

/** The real statements on a real Postgres, and ways to stop between two of them. */
export interface JobTable {
  /** Of its database. */
  url: string
  db: Kysely<Database>
  jobs: Jobs
  /** The statements of another process; `act` runs once, after its `after`-th statement and before the next. */
  paused(after: number, act: () => Promise<unknown>): Jobs
  /** A new job; its id. */
  accept(more?: Partial<NewJob>): Promise<string>
  /** A claim that has to be granted. */
  claim(jobId: string, leaseMs?: number): Promise<Extract<ClaimOutcome, { kind: 'claimed' }>>
  events(jobId: string): Promise<string[]>
  count(table: 'outbox' | 'processed_operations' | 'dead_letters', jobId: string): Promise<number>
  close(): Promise<void>
}

export const BUDGET = 5

export async function openJobTable(): Promise<JobTable> {
  const database = await createTestDatabase()
  const db = openDatabase(database.url, { max: 6, callMs: 20_000, application: 'test' })
  const jobs = createPostgresJobs(db)
  return {
    url: database.url,
    db,
    jobs,
    paused: (after, act) => createPostgresJobs(db.withPlugin(pauseAfter(after, act))),
    accept: (more) => acceptJob(jobs, more),
    async claim(jobId, leaseMs = 30_000) {
      const claim = await jobs.claim({ jobId, owner: `owner of ${jobId}`, leaseMs, budget: BUDGET })
      if (claim.kind !== 'claimed') throw new Error(`${jobId} was not claimed: ${claim.kind}`)
      return claim
    },
    async events(jobId) {
      const { rows } = await sql<{ event: string }>`
        select event from job_events where job_id = ${jobId} order by event_id`.execute(db)
      return rows.map(({ event }) => event)
    },
    async count(table, jobId) {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from ${sql.table(table)} where job_id = ${jobId}`.execute(db)
      return rows[0]!.count
    },
    async close() {
      await db.destroy()
      await database.drop()
    },
  }
}

/** Puts a job into the table as the API does, without an upload. */
export async function acceptJob(jobs: Jobs, more: Partial<NewJob> = {}): Promise<string> {
  const jobId = more.jobId ?? mintJobId(systemClock, systemRandom)
  await jobs.accept({
    jobId,
    tenant: 'default',
    objectKey: `originals/${jobId}`,
    original: { contentType: 'image/png', bytes: 1, sha256: '', width: 1, height: 1 },
    options: DEFAULT_OPTIONS,
    warnings: [],
    deadlineMs: 3_600_000,
    callbackUrl: null,
    traceparent: null,
    idempotency: null,
    ...more,
  })
  return jobId
}

function pauseAfter(statements: number, act: () => Promise<unknown>): KyselyPlugin {
  let seen = 0
  return {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      seen += 1
      if (seen === statements) await act()
      return result
    },
  }
}
