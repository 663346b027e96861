import { type Kysely, sql } from 'kysely'
import type { Callbacks, DueCallback } from '../core/ports/callbacks.ts'
import { type FactsRow, toFacts } from './callback-row.ts'
import { fromNow } from './jobs/time.ts'
import type { Database } from './schema.ts'

/** Receivers of one tenant that a claim looks at, from each of its two beginnings. */
const MAX_STEPS = 100

export async function claimCallbacks(
  db: Kysely<Database>,
  { token, max, leaseMs, perHost, perTenant }: Parameters<Callbacks['claim']>[0],
): Promise<DueCallback[]> {
  const due = sql`state = 'PENDING' and next_attempt_at <= now()`
  const { rows } = await sql<
    FactsRow & { tenant: string; url: string; sends: number; secrets: string[]; traceparent: string | null }
  >`
    with recursive owed as (
      (select tenant from callbacks where state = 'PENDING' order by tenant limit 1)
      union all
      select later.tenant from owed cross join lateral (
        select tenant from callbacks where state = 'PENDING' and tenant > owed.tenant order by tenant limit 1
      ) later
    ),
    in_flight as (select tenant, receiver from callbacks where claim_token is not null and next_attempt_at > now()),
    -- What has no room left is out of the way before anything is ranked: it would stand before those that have.
    tenants_with_room as (
      select tenant, tenant_room from owed cross join lateral (
        select ${perTenant} - count(*) as tenant_room from in_flight where in_flight.tenant = owed.tenant
      ) room
      where tenant_room > 0
    ),
    -- Each receiver that a tenant has something waiting for, at one look into the index, however long its backlog. A
    -- tenant with very many is walked over in parts: from the lowest on, and from a place that is another each time.
    receivers as (
      select distinct tenant, tenant_room, receiver
      from tenants_with_room with_room
      cross join (values (-2147483648), ((random() * 4294967295 - 2147483648)::integer)) starts(first)
      cross join lateral (
        with recursive walk as (
          (
            select receiver, 1 as steps from callbacks
            where state = 'PENDING' and tenant = with_room.tenant and receiver >= first
            order by receiver limit 1
          )
          union all
          select later.receiver, steps + 1 from walk cross join lateral (
            select receiver from callbacks
            where state = 'PENDING' and tenant = with_room.tenant and receiver > walk.receiver
            order by receiver limit 1
          ) later
          where steps < ${MAX_STEPS}
        )
        select receiver from walk
      ) walked
    ),
    open as (
      select receivers.*, host_room from receivers cross join lateral (
        select ${perHost} - count(*) as host_room from in_flight where in_flight.receiver = receivers.receiver
      ) room
      where host_room > 0
    ),
    of_hosts as (
      select next.*, host_room, tenant_room,
        row_number() over (partition by open.receiver order by sends, next_attempt_at) as place
      from open cross join lateral (
        select callback_id, tenant, sends, next_attempt_at from callbacks
        where ${due} and tenant = open.tenant and receiver = open.receiver
        order by next_attempt_at limit host_room
      ) next
    ),
    of_tenants as (
      select callback_id, sends, next_attempt_at, tenant_room,
        row_number() over (partition by tenant order by sends, next_attempt_at) as place
      from of_hosts where place <= host_room
    ),
    chosen as (
      select callback_id from of_tenants where place <= tenant_room order by sends, next_attempt_at limit ${max}
    ),
    -- Due once more: another sender may have taken it since.
    free as (
      select callback_id from callbacks where callback_id in (select callback_id from chosen) and ${due}
      for update skip locked
    ),
    claimed as (
      update callbacks set claim_token = ${token}, sends = sends + 1, next_attempt_at = ${fromNow(leaseMs)}
      from free where callbacks.callback_id = free.callback_id
      returning callbacks.*
    )
    select *, (select traceparent from jobs where jobs.job_id = claimed.job_id), array(
      select secret from callback_secrets secrets
      where secrets.tenant = claimed.tenant and (expires_at is null or expires_at > now())
      order by secret_id desc
    ) as secrets from claimed`.execute(db)
  return rows.map((row) => ({
    ...toFacts(row),
    tenant: row.tenant,
    url: row.url,
    sends: row.sends,
    secrets: row.secrets,
    traceparent: row.traceparent,
  }))
}
