import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import { exhausted, expired } from '../../core/job-ends.ts'
import type { Database, JobsTable } from '../schema.ts'
import { endJob } from './end.ts'
import { appendEvent } from './event.ts'
import { fromNow, milliseconds } from './time.ts'

export async function republishLost(
  db: Kysely<Database>,
  sweep: { ageMs: number; evidenceMs: number; queueEmpty: boolean; max: number },
): Promise<string[]> {
  const { ageMs, evidenceMs, queueEmpty, max } = sweep
  // From when on a later message would have shown that this one is gone.
  const provenBy = sql`greatest(jobs.published_at, jobs.run_at) + ${milliseconds(evidenceMs)}`
  const quiet = sql`status = 'QUEUED' and greatest(published_at, run_at, republished_at) <`
  return jobIds(
    db,
    sql`
    with tenants as (select distinct tenant from jobs where ${quiet} ${fromNow(-ageMs)}),
    -- How far the queue is: the newest publication whose job was claimed since. A job that was claimed before it was
    -- last published counts as of its claim.
    watermarks as (
      select tenant,
        (select max(published_at) from jobs newer where newer.tenant = tenants.tenant) as published,
        (${watermark(sql`claimed.tenant = tenants.tenant`)}) as reached
      from tenants
    ),
    anyone as (select (${watermark(sql`true`)}) as reached),
    lost as (
      select jobs.job_id from jobs join watermarks using (tenant)
      where ${quiet} now() - ${milliseconds(ageMs)} * power(2, least(republications, 10))
        and not exists (select from outbox where outbox.job_id = jobs.job_id)
        and (${queueEmpty} or ${provenBy} <= case
          when watermarks.published >= ${provenBy} then watermarks.reached
          else (select reached from anyone) end)
      order by greatest(published_at, run_at, republished_at) limit ${max}
      for update of jobs skip locked
    ),
    changed as (
      update jobs set republications = republications + 1, republished_at = now()
      from lost where jobs.job_id = lost.job_id
      returning jobs.job_id, fence, attempts
    ),
    outbox_row as (insert into outbox (job_id) select job_id from changed on conflict (job_id) do nothing),
    event as (${appendEvent('republished')})
    select job_id from changed`,
  )
}

function watermark(which: RawBuilder<unknown>) {
  return sql`select least(published_at, claimed_at) from jobs claimed
    where ${which} and published_at is not null and claimed_at is not null
    order by published_at desc limit 1`
}

export async function rescue(
  db: Kysely<Database>,
  { graceMs, budget, max }: { graceMs: number; budget: number; max: number },
): Promise<string[]> {
  const abandoned = sql`status = 'RUNNING' and lease_until < ${fromNow(-graceMs)}`
  const rescued = await jobIds(
    db,
    sql`
    with found as (
      select job_id from jobs where ${abandoned} and attempts < ${budget}
      order by lease_until limit ${max}
      for update skip locked
    ),
    changed as (
      -- The lease is part of the condition once more: a heartbeat extends it without touching anything else.
      update jobs set status = 'QUEUED', fence = fence + 1, run_at = now(), lease_owner = null, lease_until = null
      from found where jobs.job_id = found.job_id and ${abandoned}
      returning jobs.job_id, fence, attempts
    ),
    outbox_row as (insert into outbox (job_id) select job_id from changed on conflict (job_id) do nothing),
    event as (${appendEvent('rescued')})
    select job_id from changed`,
  )
  const spent = sql`${abandoned} and attempts >= ${budget} order by lease_until limit ${max}`
  const ended = await endEach(db, spent, exhausted)
  return [...rescued, ...ended]
}

export async function expire(db: Kysely<Database>, { max }: { max: number }): Promise<string[]> {
  return endEach(
    db,
    sql`status = 'QUEUED' and deadline_at < now() order by deadline_at limit ${max}`,
    expired,
  )
}

/**
 * Ends each job that `which` finds, unless it changes meanwhile; returns those that were ended. The fence is read in the
 * statement that checks the condition: read after it, the fence would be that of a job which is no longer as it was.
 */
async function endEach(
  db: Kysely<Database>,
  which: RawBuilder<unknown>,
  ending: (...of: Parameters<typeof exhausted>) => ReturnType<typeof exhausted>,
): Promise<string[]> {
  const { rows } = await sql<Candidate>`
    select job_id, fence, attempts, last_error_code, last_error_message from jobs where ${which}`.execute(db)
  const ended: string[] = []
  for (const { job_id: jobId, fence, attempts, last_error_code: code, last_error_message: message } of rows) {
    const lastError = code && { code, message: message ?? '' }
    if (await endJob(db, { jobId, by: { kind: 'sweep', fence }, ...ending(attempts, lastError) }))
      ended.push(jobId)
  }
  return ended
}

type Candidate = Pick<
  Selectable<JobsTable>,
  'job_id' | 'fence' | 'attempts' | 'last_error_code' | 'last_error_message'
>

async function jobIds(db: Kysely<Database>, statement: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await (statement as RawBuilder<{ job_id: string }>).execute(db)
  return rows.map((row) => row.job_id)
}
