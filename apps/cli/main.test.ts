import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashApiKey, isApiKey } from '../../core/api-key.ts'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresTenants } from '../../db/tenants.ts'
import { createTestDatabase, type TestDatabase } from '../../test/database.ts'
import { COMMANDS } from './commands.ts'
import { runCommand } from './run-command.ts'

let database: TestDatabase
let folder: string
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(path.join(tmpdir(), 'img42-cli-'))
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const img42 = (args: string[], env: NodeJS.ProcessEnv = { DATABASE_URL: database.url }) =>
  runCommand(COMMANDS, args, env)

async function tenantOf(key: string) {
  const db = openDatabase(database.url, { max: 1, callMs: 10_000, application: 'img42-test' })
  const known = await createPostgresTenants(db).findByKey(hashApiKey(key))
  await db.destroy()
  return known?.tenant
}

describe('img42 keys', () => {
  test('makes a key, shows it once, lists it by its beginning, and revokes it', async () => {
    const limits = ['--rate', '2.5', '--burst', '10', '--in-flight', '3']
    const made = await img42(['keys', 'create', '--tenant', 'acme', '--name', 'build server', ...limits])
    expect(made.exitCode).toBe(0)
    const key = made.stdout.trim()
    expect(isApiKey(key)).toBe(true)
    expect(made.stderr).not.toContain(key)
    expect(await tenantOf(key)).toEqual({
      name: 'acme',
      limits: { ratePerSecond: 2.5, burst: 10, maxInFlight: 3 },
    })

    const listed = await img42(['keys', 'list', '--tenant', 'acme'])
    expect(listed.stdout).toContain('build server')
    expect(listed.stdout).toContain(`${key.slice(0, 12)}…`)
    expect(listed.stdout).not.toContain(key.slice(0, 14))

    const keyId = /key_\w+/.exec(listed.stdout)![0]
    const revoked = await img42(['keys', 'revoke', keyId])
    expect([revoked.exitCode, revoked.stderr]).toEqual([0, `${keyId} is revoked.`])
    expect(await tenantOf(key)).toBeUndefined()
    expect((await img42(['keys', 'list'])).stdout).toMatch(/UTC {2}\d{4}-.* UTC/)
  })

  test('that revokes a key which is not there says so, and does not repeat what was pasted', async () => {
    const unknown = await img42(['keys', 'revoke', 'key_0000000000000000'])
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('there is no key of key_0000'),
    ])
    const pasted = await img42(['keys', 'revoke', 'img42_mysecret'])
    expect([pasted.exitCode, pasted.stderr]).toEqual([1, expect.not.stringContaining('mysecret')])
  })

  test('finds the database of the npm start that runs beside it', async () => {
    await writeFile(path.join(folder, 'database-url'), `${database.url}\n`)
    expect((await img42(['keys', 'list', '--tenant', 'nobody'], { DATA_DIR: folder })).stderr).toBe(
      'There are no keys.',
    )
  })
})

describe('img42', () => {
  test('as a process prints the key alone on stdout, and ends with the exit code', async () => {
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'main.ts'), ...args], {
        env: { ...process.env, DATABASE_URL: database.url },
        timeout: 50_000,
      })
    const { stdout } = await run('keys', 'create', '--tenant', 'process')
    expect(isApiKey(stdout.trimEnd())).toBe(true)
    await expect(run('keys', 'make')).rejects.toMatchObject({ code: 2 })
  })

  test.each([
    [[], 2, 'stderr'],
    [['help'], 0, 'stdout'],
    [['keys', '--help'], 0, 'stdout'],
    [['keyz'], 2, 'stderr'],
    [['constructor'], 2, 'stderr'],
    [['keys'], 2, 'stderr'],
    [['keys', 'make'], 2, 'stderr'],
  ] as const)('%j shows its usage', async (args, code, stream) => {
    const run = await img42([...args])
    expect([run.exitCode, run[stream]]).toEqual([
      code,
      expect.stringContaining('keys create --tenant <tenant>'),
    ])
  })

  test.each([
    [['keys', 'create'], '--tenant is missing'],
    [['keys', 'create', '--tenant', 'A b'], '--tenant has to be'],
    [['keys', 'create', '--tenant', 'a', '--rate', '1e3'], '--rate has to be a number from'],
    [['keys', 'create', '--tenant', 'a', '--burst', '0'], '--burst has to be a whole number from'],
    [['keys', 'create', '--tenant', 'a', '--in-flight', '1.5'], '--in-flight has to be a whole number from'],
    [['keys', 'create', '--tenant', 'a', '--colour', 'red'], "Unknown option '--colour'"],
    [['keys', 'create', '--tenant', 'a', 'b'], 'there is no place for b'],
    [['keys', 'create', '--tenant', 'a', '--name', 'a\u001b[31m'], '--name has to be'],
    [['keys', 'revoke'], '<key id> is missing'],
  ] as const)('%j is refused with its reason', async (args, reason) => {
    const run = await img42([...args])
    expect([run.exitCode, run.stdout, run.stderr]).toEqual([2, '', expect.stringContaining(reason)])
  })

  test.each([
    ['no database', {}, 'Set DATABASE_URL, or run npm start'],
    ['a database that is no URL', { DATABASE_URL: 'db:5432' }, 'DATABASE_URL has to begin with postgres://'],
    [
      'a database that does not answer',
      { DATABASE_URL: 'postgres://u:geheim@127.0.0.1:1/x' },
      'ECONNREFUSED',
    ],
  ])('says what to do about %s', async (_what, env, reason) => {
    const run = await img42(['keys', 'list'], { DATA_DIR: path.join(folder, 'nothing'), ...env })
    expect([run.exitCode, run.stdout, run.stderr]).toEqual([1, '', expect.stringContaining(reason)])
    expect(run.stderr).not.toContain('geheim')
    expect(run.stderr).not.toContain('    at ')
  })
})
