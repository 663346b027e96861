import { type Kysely, type RawBuilder, sql } from 'kysely'
import { classified } from './classified.ts'
import type { Database } from './schema.ts'

/** How the service stands, by the database's clock. Ages are in seconds, 0 where there is nothing. */
export interface ServiceState {
  queuedJobs: number
  runningJobs: number
  /** Of the jobs that have not ended. */
  oldestJobAgeSeconds: number
  outboxRows: number
  oldestOutboxRowAgeSeconds: number
  /** For how long the oldest job that was published and is QUEUED and due has been both. */
  oldestMessageAgeSeconds: number
  /** The same of it where the queue has moved past it, or is empty: it seems to have no message. */
  oldestUnheardAgeSeconds: number
  deadLettersLastHour: number
  falseDeadLettersLastHour: number
  /** Of those in this database that this role may see. */
  oldestTransactionAgeSeconds: number
  /** By table, as Postgres' statistics have it. */
  deadTuples: Record<string, number>
}

/**
 * Reads by indexes that hold only what has not ended, and the last hour's dead letters: what is finished costs nothing.
 *
 * @param evidenceMs how much later another job has to be published and claimed to show that one has no message
 * @param queueEmpty whether the queue says that it has no message at all
 * @throws {DependencyError} when the database cannot be asked
 */
export async function readState(
  db: Kysely<Database>,
  { evidenceMs, queueEmpty }: { evidenceMs: number; queueEmpty: boolean },
): Promise<ServiceState> {
  const { rows } = await stateQuery({ evidenceMs, queueEmpty })
    .execute(db)
    .catch((error: unknown) => {
      throw classified(error)
    })
  return rows[0]!
}

/** The one statement of {@link readState}. */
export function stateQuery({
  evidenceMs,
  queueEmpty,
}: {
  evidenceMs: number
  queueEmpty: boolean
}): RawBuilder<ServiceState> {
  return sql<ServiceState>`
    select "queuedJobs", "runningJobs", ${age(sql`jobs.oldest`)} as "oldestJobAgeSeconds",
      "outboxRows", ${age(sql`waiting.oldest`)} as "oldestOutboxRowAgeSeconds",
      ${age(sql`quietest.heard_at`)} as "oldestMessageAgeSeconds",
      case when ${queueEmpty} or quietest.heard_at + ${evidenceMs} * interval '1 millisecond' <= watermark.reached
        then ${age(sql`quietest.heard_at`)} else 0 end as "oldestUnheardAgeSeconds",
      "deadLettersLastHour", "falseDeadLettersLastHour",
      ${age(sql`transactions.oldest`)} as "oldestTransactionAgeSeconds", "deadTuples"
    from (
      select count(*) filter (where status = 'QUEUED')::integer as "queuedJobs",
        count(*) filter (where status = 'RUNNING')::integer as "runningJobs", min(created_at) as oldest
      from jobs where status in ('QUEUED', 'RUNNING')
    ) jobs, (
      select count(*)::integer as "outboxRows", min(created_at) as oldest from outbox
    ) waiting
    -- The first of an index: the others have been heard of since.
    left join (
      select greatest(published_at, run_at, republished_at) as heard_at from jobs
      where status = 'QUEUED' and published_at is not null and run_at <= now()
        and not exists (select from outbox where outbox.job_id = jobs.job_id)
      order by greatest(published_at, run_at, republished_at) limit 1
    ) quietest on true
    left join (
      select least(published_at, claimed_at) as reached from jobs
      where published_at is not null and claimed_at is not null order by published_at desc limit 1
    ) watermark on true, (
      select count(*)::integer as "deadLettersLastHour",
        count(*) filter (where verdict = 'false_quarantine')::integer as "falseDeadLettersLastHour"
      from dead_letters where recorded_at > now() - interval '1 hour'
    ) letters, (
      select min(xact_start) as oldest from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
    ) transactions, (
      select coalesce(json_object_agg(relname, n_dead_tup), '{}') as "deadTuples" from pg_stat_user_tables
      where schemaname = current_schema() and relname in ('jobs', 'outbox', 'queue_messages', 'callbacks')
    ) hot`
}

function age(since: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`greatest(0, coalesce(extract(epoch from now() - ${since}), 0))::double precision`
}
