import { type Kysely, sql } from 'kysely'

/** Jobs and what every transition of one writes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table jobs (
    job_id text primary key,
    tenant text not null,
    status text not null check (status in ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED')),
    fence integer not null default 0,
    attempts integer not null default 0 check (attempts >= 0),
    generation integer not null default 1,
    run_at timestamptz not null default now(),
    published_at timestamptz,
    claimed_at timestamptz,
    lease_owner text,
    lease_until timestamptz,
    object_key text not null,
    original jsonb not null,
    warnings jsonb not null,
    outputs jsonb,
    error_code text,
    error_message text,
    last_error_code text,
    last_error_message text,
    republications integer not null default 0,
    republished_at timestamptz,
    redriven_generation integer not null default 0,
    created_at timestamptz not null default now(),
    deadline_at timestamptz not null,
    finished_at timestamptz,
    deleted_at timestamptz,
    objects_deleted_at timestamptz,
    -- What a status means is not left to the code that writes it.
    check ((status = 'RUNNING') = (lease_until is not null)),
    check ((status in ('SUCCEEDED', 'FAILED')) = (finished_at is not null)),
    check ((status = 'SUCCEEDED') = (outputs is not null)),
    check ((status = 'FAILED') = (error_code is not null)),
    check (deleted_at is null or finished_at is not null)
  )`,
  // The sweeps' paths: each index holds only the rows that its sweep looks for.
  `create index jobs_queued on jobs (greatest(published_at, run_at, republished_at)) where status = 'QUEUED'`,
  `create index jobs_deadline on jobs (deadline_at) where status = 'QUEUED'`,
  `create index jobs_running on jobs (lease_until) where status = 'RUNNING'`,
  `create index jobs_published on jobs (tenant, published_at desc) where published_at is not null`,
  `create index jobs_watermark on jobs (tenant, published_at desc) where published_at is not null and claimed_at is not null`,
  `create index jobs_watermark_any on jobs (published_at desc) where published_at is not null and claimed_at is not null`,
  `create index jobs_finished on jobs (finished_at) where finished_at is not null and deleted_at is null`,
  `create index jobs_tombstones on jobs (deleted_at) where deleted_at is not null`,
  // One row a job, however many writers: the relay is the only one who removes it.
  `create table outbox (
    outbox_id bigint generated always as identity primary key,
    job_id text not null unique references jobs on delete cascade,
    claim_token text,
    claimed_until timestamptz,
    tries integer not null default 0,
    created_at timestamptz not null default now()
  )`,
  `create table idempotency_records (
    tenant text not null,
    key text not null,
    token text not null,
    lease_until timestamptz not null,
    fingerprint text,
    job_id text references jobs on delete cascade,
    created_at timestamptz not null default now(),
    primary key (tenant, key),
    check ((job_id is null) = (fingerprint is null))
  )`,
  `create index idempotency_records_job on idempotency_records (job_id)`,
  `create index idempotency_records_abandoned on idempotency_records (lease_until) where job_id is null`,
  `create table processed_operations (
    consumer_name text not null,
    operation_id text not null,
    job_id text not null references jobs on delete cascade,
    processed_at timestamptz not null default now(),
    primary key (consumer_name, operation_id)
  )`,
  `create index processed_operations_job on processed_operations (job_id)`,
  `create table job_events (
    event_id bigint generated always as identity primary key,
    job_id text not null references jobs on delete cascade,
    event text not null,
    at timestamptz not null default now(),
    fence integer not null,
    attempts integer not null,
    detail jsonb
  )`,
  `create index job_events_job on job_events (job_id, event_id)`,
  // Outlives the jobs it speaks of, hence no reference.
  `create table dead_letters (
    dead_letter_id bigint generated always as identity primary key,
    message_id text unique,
    job_id text,
    generation integer,
    body text,
    reason text not null,
    receive_count integer not null,
    verdict text not null,
    recorded_at timestamptz not null default now()
  )`,
  `create index dead_letters_job on dead_letters (job_id)`,
  // Hot tables: updated in place where a page has room, and vacuumed before dead rows pile up.
  `alter table jobs set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)`,
  `alter table outbox set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01)`,
]
