import { execFile } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** What an app that cannot start says, and its exit code. */
function refusal(env: Record<string, string>): Promise<{ code: number; said: string }> {
  const { AUTH: _, HOST: __, ...others } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(import.meta.dirname, '../../apps/api/main.ts')],
      { env: { ...others, DATABASE_URL: database.url, PORT: '0', ...env }, timeout: 50_000 },
      (error, _stdout, stderr) => resolve({ code: Number(error?.code ?? 0), said: stderr }),
    )
  })
}

describe('the API', () => {
  test.each([
    [
      'would be open to others without anybody’s having said so',
      { HOST: '0.0.0.0' },
      'AUTH is missing: HOST is 0.0.0.0',
    ],
    ['has a HOST that is not this machine’s', { HOST: '192.0.2.1', AUTH: 'keys' }, 'set HOST to one that is'],
    [
      'has a DATA_DIR where nothing can be made',
      { DATA_DIR: '/proc/nope' },
      'DATA_DIR /proc/nope cannot be used',
    ],
  ])('does not start when it %s', async (_what, env, sentence) => {
    const { code, said } = await refusal(env as Record<string, string>)
    expect(code).toBe(1)
    expect(said).toContain(sentence)
    expect(said).not.toContain('    at ')
  })
})
