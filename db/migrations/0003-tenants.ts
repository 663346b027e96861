import { type Kysely, sql } from 'kysely'

/** Tenants, their limits and their API keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table tenants (
    tenant text primary key check (tenant ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    rate_per_second double precision not null default 100 check (rate_per_second > 0),
    burst integer not null default 200 check (burst >= 1),
    max_in_flight integer not null default 10000 check (max_in_flight >= 1),
    callback_url text,
    created_at timestamptz not null default now()
  )`,
  `create table api_keys (
    key_id text primary key,
    tenant text not null references tenants,
    name text not null,
    -- SHA-256 of the key. The key itself is shown once and kept nowhere.
    key_hash bytea not null unique check (octet_length(key_hash) = 32),
    shown_part text not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  )`,
  `create index api_keys_tenant on api_keys (tenant)`,
  // The count of a tenant's jobs in flight reads nothing else, and stops at the tenant's limit.
  `create index jobs_in_flight on jobs (tenant) where status in ('QUEUED', 'RUNNING')`,
]
