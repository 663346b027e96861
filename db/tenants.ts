import { type Kysely, sql } from 'kysely'
import type { KnownKey, Tenants } from '../core/ports/tenants.ts'
import { methodsOn } from './classified.ts'
import type { Database } from './schema.ts'

/** The `Tenants` port on Postgres. */
export function createPostgresTenants(db: Kysely<Database>): Tenants {
  const method = methodsOn(db)
  return { findByKey: method(findByKey), countInFlight: method(countInFlight) }
}

async function findByKey(db: Kysely<Database>, keyHash: Uint8Array): Promise<KnownKey | null> {
  const row = await db
    .selectFrom('api_keys as k')
    .innerJoin('tenants as t', 't.tenant', 'k.tenant')
    .select(['k.key_hash', 't.tenant', 't.rate_per_second', 't.burst', 't.max_in_flight'])
    .where('k.key_hash', '=', Buffer.from(keyHash))
    .where('k.revoked_at', 'is', null)
    .executeTakeFirst()
  if (!row) return null
  const limits = { ratePerSecond: row.rate_per_second, burst: row.burst, maxInFlight: row.max_in_flight }
  return { keyHash: row.key_hash, tenant: { name: row.tenant, limits } }
}

async function countInFlight(db: Kysely<Database>, tenant: string, atMost: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from (
      select from jobs where tenant = ${tenant} and status in ('QUEUED', 'RUNNING') limit ${atMost}
    ) in_flight`.execute(db)
  return rows[0]!.count
}
