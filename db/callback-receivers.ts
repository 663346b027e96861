import { type Kysely, sql } from 'kysely'
import { milliseconds } from './jobs/time.ts'
import type { Database } from './schema.ts'

export interface ListedSecret {
  secretId: string
  secret: string
  createdAt: Date
  /** Until when it still signs; null for the newest, which signs until it is replaced. */
  expiresAt: Date | null
}

/** Adds a tenant's first signing secret. False when it has one that does not expire: that is to be rotated. */
export function createSecret(db: Kysely<Database>, tenant: string, secret: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    await lockSecrets(transaction, tenant)
    const lasting = await transaction
      .selectFrom('callback_secrets')
      .select('secret_id')
      .where('tenant', '=', tenant)
      .where('expires_at', 'is', null)
      .executeTakeFirst()
    if (lasting) return false
    await transaction.insertInto('callback_secrets').values({ tenant, secret }).execute()
    return true
  })
}

/**
 * Replaces a tenant's signing secrets: from now on `secret` signs, and for `overlapMs` those that it has now sign as
 * well, so that receivers can change in between. Those whose time has passed are deleted.
 */
export function rotateSecret(
  db: Kysely<Database>,
  { tenant, secret, overlapMs }: { tenant: string; secret: string; overlapMs: number },
): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    await lockSecrets(transaction, tenant)
    await transaction
      .deleteFrom('callback_secrets')
      .where('tenant', '=', tenant)
      .where('expires_at', '<=', sql<Date>`now()`)
      .execute()
    await transaction
      .updateTable('callback_secrets')
      .set({ expires_at: sql<Date>`least(expires_at, now() + ${milliseconds(overlapMs)})` })
      .where('tenant', '=', tenant)
      .execute()
    await transaction.insertInto('callback_secrets').values({ tenant, secret }).execute()
  })
}

/** A tenant's secrets that sign now, newest first. */
export function listSecrets(db: Kysely<Database>, tenant: string): Promise<ListedSecret[]> {
  return db
    .selectFrom('callback_secrets')
    .select(['secret_id as secretId', 'secret', 'created_at as createdAt', 'expires_at as expiresAt'])
    .where('tenant', '=', tenant)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', sql<Date>`now()`)]))
    .orderBy('secret_id', 'desc')
    .execute()
}

/** Two at once would each find no lasting secret, or end each other's. */
async function lockSecrets(db: Kysely<Database>, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`callback_secrets/${tenant}`}, 0))`.execute(db)
}

/** Sets where the tenant's callbacks go that are not told otherwise; null: nowhere. */
export async function setTenantUrl(db: Kysely<Database>, tenant: string, url: string | null): Promise<void> {
  await db
    .insertInto('tenants')
    .values({ tenant, callback_url: url })
    .onConflict((conflict) => conflict.column('tenant').doUpdateSet({ callback_url: url }))
    .execute()
}

export interface ListedReceiver {
  url: string
  /** When it answered 410. */
  disabledAt: Date
  /** Callbacks that are not sent because of it. */
  withheld: number
}

/** The URLs of a tenant that have answered 410 Gone. */
export async function listDisabledReceivers(db: Kysely<Database>, tenant: string): Promise<ListedReceiver[]> {
  const { rows } = await sql<ListedReceiver>`
    select url, disabled_at as "disabledAt", (
      select count(*)::int from callbacks
      where callbacks.tenant = disabled.tenant and callbacks.url = disabled.url and state = 'DISABLED'
    ) as withheld
    from disabled_callback_urls disabled where tenant = ${tenant} order by disabled_at`.execute(db)
  return rows
}

/**
 * Sends to a disabled URL again, what was withheld from it included. May be repeated where it broke off.
 *
 * @returns how many callbacks that is; null when the URL was not disabled
 */
export async function enableReceiver(
  db: Kysely<Database>,
  tenant: string,
  url: string,
): Promise<number | null> {
  const enabled = await db
    .deleteFrom('disabled_callback_urls')
    .where('tenant', '=', tenant)
    .where('url', '=', url)
    .returning('url')
    .executeTakeFirst()
  let due = 0
  while (true) {
    const { rows } = await sql`
      update callbacks set state = 'PENDING', sends = 0, next_attempt_at = now(), finished_at = null
      where callback_id in (
        select callback_id from callbacks
        where tenant = ${tenant} and url = ${url} and state = 'DISABLED' limit ${MAX_ENABLED}
      )
      returning callback_id`.execute(db)
    due += rows.length
    if (rows.length < MAX_ENABLED) return enabled || due > 0 ? due : null
  }
}

/** In one statement, which has a deadline. */
const MAX_ENABLED = 1_000
