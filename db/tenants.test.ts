import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { hashApiKey, isApiKey } from '../core/api-key.ts'
import { DependencyError } from '../core/errors.ts'
import { systemRandom } from '../infra/system-random.ts'
import { openTestDatabase } from '../test/opened-database.ts'
import { createKey, listKeys, revokeKey } from './api-keys.ts'
import { openDatabase } from './connect.ts'
import { createPostgresTenants } from './tenants.ts'

const db = await openTestDatabase()

const find = (key: string) => createPostgresTenants(db).findByKey(hashApiKey(key))

describe('a key in the table', () => {
  test('is found with its tenant and its limits, by its hash alone', async () => {
    const { key } = await createKey(db, { tenant: 'found', name: 'n', limits: { burst: 7 } }, systemRandom)
    expect(isApiKey(key)).toBe(true)
    expect(await find(key)).toEqual({
      keyHash: hashApiKey(key),
      tenant: { name: 'found', limits: { ratePerSecond: 100, burst: 7, maxInFlight: 10_000 } },
    })
    const { rows } = await sql<{ text: string }>`select api_keys::text as text from api_keys`.execute(db)
    expect(rows.map(({ text }) => text).join()).not.toContain(key.slice(13))
    expect(await find(`${key}0`)).toBeNull()
  })

  test('is found no more once it is revoked, while the tenant’s others are', async () => {
    const [first, second] = [
      await createKey(db, { tenant: 'several', name: 'first' }, systemRandom),
      await createKey(db, { tenant: 'several', name: 'second' }, systemRandom),
    ]
    expect(await revokeKey(db, first.keyId)).toBe(true)
    expect(await find(first.key)).toBeNull()
    expect((await find(second.key))?.tenant.name).toBe('several')
    const [revoked, other] = await listKeys(db, 'several')
    expect(revoked).toMatchObject({ keyId: first.keyId, name: 'first', shownPart: first.key.slice(0, 12) })
    expect(revoked!.revokedAt).toBeInstanceOf(Date)
    expect(other!.revokedAt).toBeNull()
    await revokeKey(db, first.keyId)
    expect((await listKeys(db, 'several'))[0]!.revokedAt).toEqual(revoked!.revokedAt)
    expect(await revokeKey(db, 'key_unknown')).toBe(false)
  })

  test('that is made with limits gives them to the whole tenant, and leaves the others as they are', async () => {
    const first = await createKey(
      db,
      { tenant: 'limits', name: '', limits: { maxInFlight: 5 } },
      systemRandom,
    )
    const second = await createKey(
      db,
      { tenant: 'limits', name: '', limits: { ratePerSecond: 0.5 } },
      systemRandom,
    )
    const limits = { ratePerSecond: 0.5, burst: 200, maxInFlight: 5 }
    expect(second.limits).toEqual(limits)
    expect((await find(first.key))?.tenant.limits).toEqual(limits)
  })

  test('that cannot be looked for is a dependency’s failure', async () => {
    const gone = openDatabase('postgres://nobody@127.0.0.1:1/none', {
      ...{ max: 1, callMs: 1_000, application: 'img42-test' },
    })
    await expect(createPostgresTenants(gone).findByKey(hashApiKey('k'))).rejects.toThrow(DependencyError)
    await gone.destroy()
  })
})

describe('jobs in flight', () => {
  const insert = (tenant: string, status: string, count: number) =>
    sql`insert into jobs (job_id, tenant, status, object_key, original, warnings, deadline_at, lease_until, finished_at, outputs)
      select 'img_' || ${tenant}::text || ${status}::text || n, ${tenant}, ${status}, 'o', '{}', '[]', now(),
        case when ${status} = 'RUNNING' then now() end,
        case when ${status} = 'SUCCEEDED' then now() end, case when ${status} = 'SUCCEEDED' then '[]'::jsonb end
      from generate_series(1, ${count}::integer) n`.execute(db)

  test('are counted up to the limit, the tenant’s own alone, and finished ones not', async () => {
    await insert('busy', 'QUEUED', 3)
    await insert('busy', 'RUNNING', 2)
    await insert('busy', 'SUCCEEDED', 4)
    await insert('idle', 'QUEUED', 1)
    const { countInFlight } = createPostgresTenants(db)
    expect(await countInFlight('busy', 100)).toBe(5)
    expect(await countInFlight('busy', 4)).toBe(4)
    expect(await countInFlight('idle', 100)).toBe(1)
    expect(await countInFlight('nobody', 100)).toBe(0)
  })

  test('are counted in an index of their own, whatever has piled up of finished ones', async () => {
    await insert('piled', 'SUCCEEDED', 20_000)
    await insert('piled', 'QUEUED', 10)
    await sql`analyze jobs`.execute(db)
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain select from jobs where tenant = 'piled' and status in ('QUEUED', 'RUNNING') limit 100`.execute(
      db,
    )
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('jobs_in_flight')
  })
})
