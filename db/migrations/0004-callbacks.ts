import { type Kysely, sql } from 'kysely'

/** What is owed to those who asked to be told of a job's end, and how it went. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `alter table jobs add column callback_url text`,
  `create table callbacks (
    -- Made of the job's id and generation: a second callback for one end cannot be.
    callback_id text primary key,
    job_id text not null references jobs on delete cascade,
    tenant text not null,
    event text not null check (event in ('job.succeeded', 'job.failed')),
    url text not null,
    -- The name and port that the URL leads to, as a number: what a receiver's share of the senders is counted by.
    -- Spread evenly, so that a walk over many may begin anywhere; two that meet in one number share a share.
    receiver integer not null generated always as (('x' || left(md5(split_part(url, '/', 3)), 8))::bit(32)::integer) stored,
    error_code text,
    error_message text,
    state text not null default 'PENDING' check (state in ('PENDING', 'DELIVERED', 'GIVEN_UP', 'DISABLED')),
    sends integer not null default 0,
    -- While it is being sent: when its sender counts as dead.
    next_attempt_at timestamptz not null default now(),
    claim_token text,
    created_at timestamptz not null default now(),
    finished_at timestamptz,
    check ((event = 'job.failed') = (error_code is not null)),
    check ((state = 'PENDING') = (finished_at is null)),
    check (claim_token is null or state = 'PENDING')
  )`,
  `create index callbacks_job on callbacks (job_id)`,
  `create index callbacks_due on callbacks (tenant, receiver, next_attempt_at) where state = 'PENDING'`,
  `create index callbacks_disabled on callbacks (tenant, url) where state = 'DISABLED'`,
  `create index callbacks_in_flight on callbacks (next_attempt_at) where claim_token is not null`,
  // Updated at each send.
  `alter table callbacks set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)`,
  `create table callback_attempts (
    attempt_id bigint generated always as identity primary key,
    callback_id text not null references callbacks on delete cascade,
    at timestamptz not null,
    duration_ms integer not null,
    status_code integer,
    error text,
    check ((status_code is null) <> (error is null))
  )`,
  `create index callback_attempts_callback on callback_attempts (callback_id, attempt_id)`,
  // In the clear: a signature needs the secret itself.
  `create table callback_secrets (
    secret_id bigint generated always as identity primary key,
    tenant text not null,
    secret text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz
  )`,
  `create index callback_secrets_tenant on callback_secrets (tenant)`,
  // Receivers that answered 410: what is owed to them from then on is not sent.
  `create table disabled_callback_urls (
    tenant text not null,
    url text not null,
    disabled_at timestamptz not null default now(),
    primary key (tenant, url)
  )`,
]
