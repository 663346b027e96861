import { type Kysely, sql } from 'kysely'
import { hashApiKey, mintApiKey, shownPart } from '../core/api-key.ts'
import { base32, bigintOf } from '../core/base32.ts'
import type { Random } from '../core/ports/random.ts'
import type { TenantLimits } from '../core/ports/tenants.ts'
import type { Database } from './schema.ts'

export interface ListedKey {
  keyId: string
  tenant: string
  name: string
  shownPart: string
  createdAt: Date
  revokedAt: Date | null
}

/**
 * Makes a key, and the tenant if there is none of this name. Limits that are given are the whole tenant's from now on;
 * the others stay as they are, or are a new tenant's defaults (100 requests a second, bursts of 200, 10,000 jobs in
 * flight).
 *
 * @returns the key, which is stored nowhere and cannot be asked for again
 */
export async function createKey(
  db: Kysely<Database>,
  { tenant, name, limits = {} }: { tenant: string; name: string; limits?: Partial<TenantLimits> },
  random: Random,
): Promise<{ keyId: string; key: string; limits: TenantLimits }> {
  const key = mintApiKey(random)
  const keyId = `key_${base32(bigintOf(random.bytes(10)), 16)}`
  const given = {
    ...(limits.ratePerSecond !== undefined && { rate_per_second: limits.ratePerSecond }),
    ...(limits.burst !== undefined && { burst: limits.burst }),
    ...(limits.maxInFlight !== undefined && { max_in_flight: limits.maxInFlight }),
  }
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .insertInto('tenants')
      .values({ tenant, ...given })
      // Sets something in any case: only an updated row is returned.
      .onConflict((conflict) => conflict.column('tenant').doUpdateSet({ tenant, ...given }))
      .returning(['rate_per_second', 'burst', 'max_in_flight'])
      .executeTakeFirstOrThrow()
    await transaction
      .insertInto('api_keys')
      .values({ key_id: keyId, tenant, name, key_hash: hashApiKey(key), shown_part: shownPart(key) })
      .execute()
    const { rate_per_second: ratePerSecond, burst, max_in_flight: maxInFlight } = row
    return { keyId, key, limits: { ratePerSecond, burst, maxInFlight } }
  })
}

/** All keys, revoked ones too, of one tenant or of all: by tenant, the oldest first. */
export function listKeys(db: Kysely<Database>, tenant: string | null): Promise<ListedKey[]> {
  let query = db
    .selectFrom('api_keys')
    .select(['key_id as keyId', 'tenant', 'name', 'shown_part as shownPart'])
    .select(['created_at as createdAt', 'revoked_at as revokedAt'])
    .orderBy('tenant')
    .orderBy('created_at')
    .orderBy('key_id')
  if (tenant !== null) query = query.where('tenant', '=', tenant)
  return query.execute()
}

/** Revokes a key, at once and for good. False when there is none of this id; revoking one again changes nothing. */
export async function revokeKey(db: Kysely<Database>, keyId: string): Promise<boolean> {
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('key_id', '=', keyId)
    .returning('key_id')
    .executeTakeFirst()
  return revoked !== undefined
}
