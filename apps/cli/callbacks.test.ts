import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { openTestDatabase } from '../../test/opened-database.ts'
import { callbacksCommand } from './callbacks.ts'
import { UsageError } from './usage-error.ts'

const db = await openTestDatabase()
beforeEach(() => sql`truncate tenants, callback_secrets, disabled_callback_urls cascade`.execute(db))

async function run(line: string): Promise<{ output: string; note: string }> {
  const answer = await callbacksCommand(db, line.split(' '))
  return typeof answer === 'string' ? { output: answer, note: '' } : { note: '', ...answer }
}

/** The secrets of a tenant that sign now, newest first. */
async function signing(tenant: string): Promise<string[]> {
  const { rows } = await sql<{ secret: string }>`select secret from callback_secrets
    where tenant = ${tenant} and (expires_at is null or expires_at > now()) order by secret_id desc`.execute(
    db,
  )
  return rows.map(({ secret }) => secret)
}

test('a tenant’s first secret is printed once, and a second one is refused', async () => {
  const { output } = await run('secret create --tenant one')
  expect(output).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(await signing('one')).toEqual([output])
  expect(await signing('two')).toEqual([])
  await expect(run('secret create --tenant one')).rejects.toThrow('rotate replaces it')
  const listed = await run('secret list --tenant one')
  expect(listed.output).toContain(output.slice(0, 12))
  expect(listed.output).not.toContain(output)
})

test('of many that make a tenant’s first secret at once, one does', async () => {
  const made = await Promise.allSettled(Array.from({ length: 4 }, () => run('secret create --tenant one')))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await signing('one')).toHaveLength(1)
})

test('a rotated secret signs beside the new one until its time has passed', async () => {
  const { output: old } = await run('secret create --tenant one')
  const { output: next } = await run('secret rotate --tenant one')
  expect(await signing('one')).toEqual([next, old])
  await sql`update callback_secrets set expires_at = expires_at - interval '25 hours'`.execute(db)
  expect(await signing('one')).toEqual([next])
})

test('a secret that leaked signs nothing more after a rotation without overlap', async () => {
  await run('secret create --tenant one')
  const { output: next } = await run('secret rotate --tenant one --overlap-hours 0')
  expect(await signing('one')).toEqual([next])
})

test('a tenant’s URL is set as the API would take it, and cleared', async () => {
  const url = async () => {
    const { rows } = await sql<{ callback_url: string | null }>`select callback_url from tenants`.execute(db)
    return rows.map((row) => row.callback_url)
  }
  await run('url set --tenant one --url HTTPS://Hooks.example')
  expect(await url()).toEqual(['https://hooks.example/'])
  await expect(run('url set --tenant one --url http://hooks.example/')).rejects.toThrow('begin with https://')
  await expect(run('url set --tenant one --url https://10.0.0.1/')).rejects.toThrow('not public')
  expect(await url()).toEqual(['https://hooks.example/'])
  await run('url clear --tenant one')
  expect(await url()).toEqual([null])
})

test('a disabled URL is listed and enabled', async () => {
  await sql`insert into disabled_callback_urls (tenant, url) values ('one', 'https://a.example/')`.execute(db)
  expect((await run('disabled list --tenant one')).output).toContain('https://a.example/')
  expect((await run('disabled list --tenant two')).output).toBe('')
  await run('disabled enable --tenant one --url https://a.example/')
  await expect(run('disabled enable --tenant one --url https://a.example/')).rejects.toThrow('not disabled')
})

test.each([
  '',
  'secret',
  'secret destroy --tenant one',
  'secret create',
  'secret create --tenant One',
  'secret create --tenant one --url https://a.example/',
  'secret rotate --tenant one --overlap-hours -1',
  'url set --tenant one',
  'constructor name',
])('a command line that it does not understand is said to be one: %s', async (line) => {
  await expect(run(line)).rejects.toThrow(UsageError)
})
