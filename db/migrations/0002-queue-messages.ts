import { type Kysely, sql } from 'kysely'

/** The queue of the embedded default: jobs and dead letters, told apart by `queue_name`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table queue_messages (
    message_id uuid primary key,
    queue_name text not null,
    body text not null,
    attributes jsonb not null,
    sent_at timestamptz not null default now(),
    -- Hidden until then: in flight when it was received, delayed when it was not.
    visible_at timestamptz not null default now(),
    receive_count integer not null default 0,
    -- Of the newest receive; both or none.
    receipt_handle uuid,
    received_at timestamptz,
    check ((receipt_handle is null) = (received_at is null))
  )`,
  // The claim's path: the oldest visible ones of a queue.
  `create index queue_messages_visible on queue_messages (queue_name, visible_at)`,
  // Each receive and each heartbeat leaves a dead row and a dead index entry at the very place where the next claim
  // begins to read, so they are cleaned away before they make a pile, by count rather than by the table's size.
  `alter table queue_messages set (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
  )`,
]
