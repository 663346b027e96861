import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { CallbackVerdict } from '../core/callback-schedule.ts'
import {
  type Callback,
  type CallbackAttempt,
  type Callbacks,
  SHOWN_ATTEMPTS,
} from '../core/ports/callbacks.ts'
import { claimCallbacks } from './callback-claim.ts'
import { toFacts } from './callback-row.ts'
import { methodsOn } from './classified.ts'
import { fromNow, milliseconds } from './jobs/time.ts'
import type { Database } from './schema.ts'

/** The `Callbacks` port on Postgres. */
export function createPostgresCallbacks(db: Kysely<Database>): Callbacks {
  const method = methodsOn(db)
  return {
    claim: method(claimCallbacks),
    record: method(record),
    list: method(list),
    resend: method(resend),
  }
}

/** Callbacks that one 410 stops. */
const MAX_STOPPED = 1_000

type Arguments<Method extends keyof Callbacks> = Parameters<Callbacks[Method]>[0]

async function record(
  db: Kysely<Database>,
  { callbackId, token, durationMs, outcome, verdict }: Arguments<'record'>,
): Promise<void> {
  const statusCode = outcome.kind === 'answered' ? outcome.statusCode : null
  const error = outcome.kind === 'failed' ? outcome.error : null
  const delayMs = verdict.state === 'PENDING' ? verdict.delayMs : 0
  await sql`
    with logged as (
      -- Whoever holds it now: it was sent.
      insert into callback_attempts (callback_id, at, duration_ms, status_code, error)
      select callback_id, now() - ${milliseconds(durationMs)}, ${durationMs}, ${statusCode}::int, ${error}::text
      from callbacks where callback_id = ${callbackId}
    ),
    changed as (
      update callbacks
      set state = ${verdict.state}, claim_token = null, next_attempt_at = ${fromNow(delayMs)},
        finished_at = case when ${verdict.state} <> 'PENDING' then now() end
      where callback_id = ${callbackId} and claim_token = ${token}
      returning callback_id, tenant, receiver, url
    )
    ${ofReceiver(verdict)}
    select 1`.execute(db)
}

/** What a send says of its receiver, for the others that are owed to it. */
function ofReceiver({ state }: CallbackVerdict): RawBuilder<unknown> {
  switch (state) {
    case 'DELIVERED':
      return sql`, enabled as (
        delete from disabled_callback_urls disabled using changed
        where disabled.tenant = changed.tenant and disabled.url = changed.url
      )`
    case 'DISABLED':
      return sql`, disabled as (
        insert into disabled_callback_urls (tenant, url) select tenant, url from changed on conflict do nothing
      ),
      -- A backlog as long as may be would take longer than a statement has: the rest is stopped by its own 410.
      stopped as (
        update callbacks set state = 'DISABLED', finished_at = now()
        where callback_id in (
          select others.callback_id from callbacks others join changed using (tenant, receiver, url)
          where others.state = 'PENDING' and others.claim_token is null
            and others.callback_id <> changed.callback_id
          limit ${MAX_STOPPED}
        )
      )`
    default:
      return sql``
  }
}

async function list(db: Kysely<Database>, jobId: string): Promise<Callback[]> {
  const callbacks = await db
    .selectFrom('callbacks')
    .selectAll()
    .where('job_id', '=', jobId)
    .orderBy('created_at')
    .orderBy('callback_id')
    .execute()
  const ids = callbacks.map((row) => row.callback_id)
  const { rows } = await sql<CallbackAttempt & { callbackId: string }>`
    select newest.* from unnest(${ids}::text[]) as ids(id) cross join lateral (
      select callback_id as "callbackId", at, duration_ms as "durationMs", status_code as "statusCode", error, attempt_id
      from callback_attempts where callback_id = id order by attempt_id desc limit ${SHOWN_ATTEMPTS}
    ) newest order by attempt_id`.execute(db)
  return callbacks.map((row) => ({
    ...toFacts(row),
    url: row.url,
    state: row.state,
    sends: row.sends,
    nextAttemptAt: row.state === 'PENDING' ? row.next_attempt_at : null,
    finishedAt: row.finished_at,
    attempts: rows
      .filter(({ callbackId }) => callbackId === row.callback_id)
      .map(({ at, durationMs, statusCode, error }) => ({ at, durationMs, statusCode, error })),
  }))
}

async function resend(
  db: Kysely<Database>,
  { jobId, callbackId }: Arguments<'resend'>,
): Promise<'due' | 'in_flight' | 'unknown'> {
  const { rows } = await sql<{ due: boolean }>`
    with found as (select callback_id from callbacks where callback_id = ${callbackId} and job_id = ${jobId}),
    changed as (
      update callbacks set state = 'PENDING', sends = 0, next_attempt_at = now(), claim_token = null, finished_at = null
      from found where callbacks.callback_id = found.callback_id
        and (claim_token is null or next_attempt_at <= now())
      returning callbacks.callback_id
    )
    select exists (select from changed) as due from found`.execute(db)
  if (!rows[0]) return 'unknown'
  return rows[0].due ? 'due' : 'in_flight'
}
