import { type Kysely, sql } from 'kysely'
import type { Database } from '../../../db/schema.ts'
import { asAdmin } from '../../database.ts'

/**
 * Gives a database a clock that stands still until it is set: its `now()` is a function of this schema, which the
 * search path finds before the built-in one. For connections made from then on.
 */
export async function installVirtualTime(url: string): Promise<void> {
  await asAdmin(url, async (client) => {
    const { rows } = await client.query<{ name: string; column: string }>(
      `select table_name as name, column_name as column from information_schema.columns
       where table_schema = 'public' and column_default = 'now()'`,
    )
    await client.query(`
      create schema simulation;
      create table simulation.clock (time timestamptz not null);
      insert into simulation.clock values (pg_catalog.now());
      create function simulation.now() returns timestamptz language sql stable
        as 'select time from simulation.clock';
      do $$ begin execute format('alter database %I set search_path = simulation, public, pg_catalog',
        current_database()); end $$`)
    for (const { name, column } of rows) {
      await client.query(`alter table public.${name} alter column ${column} set default simulation.now()`)
    }
  })
}

export async function setTime(db: Kysely<Database>, ms: number): Promise<void> {
  await sql`update simulation.clock set time = ${new Date(ms)}`.execute(db)
}

export async function emptyTables(db: Kysely<Database>): Promise<void> {
  await sql`truncate jobs, outbox, idempotency_records, processed_operations, job_events, dead_letters
    restart identity cascade`.execute(db)
}
