import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePng } from '../../apps/api/testing/png.ts'
import { hashApiKey } from '../../core/api-key.ts'
import { createKey } from '../../db/api-keys.ts'
import { openDatabase } from '../../db/connect.ts'
import { systemRandom } from '../../infra/system-random.ts'
import { startTestAws, type TestAws } from '../aws.ts'
import { asAdmin, createTestDatabase, type TestDatabase } from '../database.ts'

/** What must not come out again anywhere. */
const PASSWORD = `canary${randomBytes(12).toString('hex')}`
const AWS_SECRET = `canary${randomBytes(12).toString('hex')}`
const PIXELS = `canary${randomBytes(12).toString('hex')}`
const ROLE = `img42_canary_${randomBytes(6).toString('hex')}`

let database: TestDatabase
let aws: TestAws
let bucket: string
let key: string
let keyHash: string
const children: ChildProcess[] = []
/** Everything that the processes wrote, and everything that they answered. */
let written = ''
let answered = ''

beforeAll(async () => {
  database = await createTestDatabase()
  const db = openDatabase(database.url, { max: 1, callMs: 10_000, application: 'img42-test' })
  const made = await createKey(db, { tenant: 'canary', name: 'canary' }, systemRandom)
  await db.destroy()
  key = made.key
  keyHash = hashApiKey(key).toString('hex')
  await asAdmin(database.url, async (client) => {
    await client.query(`create role ${ROLE} login superuser password '${PASSWORD}'`)
  })
  aws = await startTestAws()
  bucket = await aws.createBucket()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await aws.stop().catch(() => {})
  await asAdmin(database.url, async (client) => {
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`)
    await client.query(`drop role ${ROLE}`)
  })
  await database.drop()
})

async function start(app: 'api' | 'worker' | 'reconciler', env: Record<string, string>): Promise<number> {
  const child = fork(path.join(import.meta.dirname, '../../apps', app, 'main.ts'), {
    env: { ...process.env, ...env, PORT: '0', LOG_LEVEL: 'trace' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.push(child)
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk: Buffer) => {
      written += chunk.toString()
    })
  }
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [
    { listening: number },
  ]
  if (message?.listening === undefined) throw new Error(`${app} did not start: ${written}`)
  return message.listening
}

test('no secret comes out in a log or an answer, whatever fails', async () => {
  const url = new URL(database.url)
  url.username = ROLE
  url.password = PASSWORD
  const env = {
    AUTH: 'keys',
    DATABASE_URL: url.href,
    S3_BUCKET: bucket,
    AWS_ENDPOINT_URL: aws.endpointUrl,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'canary',
    AWS_SECRET_ACCESS_KEY: AWS_SECRET,
    CALL_MS: '2000',
  }
  const [port] = await Promise.all([start('api', env), start('worker', env), start('reconciler', env)])
  const ask = async (method: string, target: string, headers: Record<string, string> = {}, body?: Buffer) => {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body && { body: new Uint8Array(body) }),
    })
    const text = await response.text()
    answered += `${JSON.stringify([...response.headers])}${text}`
    return { status: response.status, text }
  }
  const png = Buffer.concat([makePng({ width: 30, height: 30 }), Buffer.from(PIXELS)])
  const upload = () =>
    ask('POST', '/v1/images', { 'content-type': 'image/png', 'idempotency-key': randomUUID() }, png)

  const accepted = await upload()
  expect(accepted.status).toBe(202)
  const { job_id } = JSON.parse(accepted.text) as { job_id: string }
  let job: { text: string }
  do job = await ask('GET', `/v1/jobs/${job_id}`)
  while (!job.text.includes('"done":true'))
  expect(job.text).toContain('SUCCEEDED')

  // Where a key does not belong.
  await ask('GET', `/v1/jobs/${key}`)
  await ask('GET', `/v1/jobs/${job_id}?key=${key}`)
  await ask('GET', `/${key}`)
  await ask('GET', '/v1/jobs/img_0', { 'x-request-id': `${key}!` })
  await ask('POST', '/v1/images', { 'content-type': key, 'idempotency-key': `"${key}` }, png)
  expect((await ask('GET', '/v1/jobs/img_0', { authorization: `Bearer ${key}0` })).status).toBe(401)

  // Each dependency gone, in the middle of work.
  await aws.stop()
  expect((await upload()).status).toBe(503)
  await ask('GET', '/readyz')
  await asAdmin(database.url, async (client) => {
    await client.query(`alter role ${ROLE} nologin`)
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`)
  })
  expect((await upload()).status).toBeGreaterThanOrEqual(500)
  expect((await ask('GET', `/v1/jobs/${job_id}`)).status).toBeGreaterThanOrEqual(500)

  expect(written).toContain('"msg":"request"')
  expect(written).toContain('"level":"warn"')
  for (const secret of [
    key.slice(6, 38),
    keyHash,
    PASSWORD,
    AWS_SECRET,
    PIXELS,
    'X-Amz-Signature',
    'AWS4-HMAC',
  ]) {
    expect(written.includes(secret), `${secret} in a log`).toBe(false)
    expect(answered.includes(secret), `${secret} in an answer`).toBe(false)
  }
})
