import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../client/webhook.ts'
import { asAdmin } from '../database.ts'
import { testImage } from '../images.ts'
import type { AppProcess } from './app-process.ts'
import { type Message, type Receiver, startReceiver } from './receiver.ts'
import { type Stack, startStack, until } from './stack.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

let stack: Stack
let api: AppProcess
let reconciler: AppProcess
let secret: string
const receivers: Receiver[] = []

beforeAll(async () => {
  stack = await startStack({ CALLBACK_ALLOW: '127.0.0.1' })
  ;[api, , reconciler] = await Promise.all([
    stack.start('api'),
    stack.start('worker'),
    stack.start('reconciler'),
  ])
})
afterAll(() => stack?.close())

beforeEach(async () => {
  await stack.query('delete from callback_secrets')
  secret = await operate('callbacks', 'secret', 'create', '--tenant', 'default')
})
afterEach(() => {
  for (const receiver of receivers.splice(0)) receiver.close()
})

type Verify = (headers: Record<string, string>, body: string, secret: string) => unknown

/** The code that docs/webhooks.md tells receivers to verify with. */
async function documentedVerify(): Promise<Verify> {
  const page = await readFile(path.join(ROOT, 'docs/webhooks.md'), 'utf8')
  const code = /```js\n(.*?)```/s.exec(page)![1]!
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  return (module as { verify: Verify }).verify
}

/** Runs an operator's command; what it prints. */
async function operate(...command: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['apps/cli/main.ts', ...command], {
    ...{ cwd: ROOT, timeout: 30_000 },
    env: { ...process.env, DATABASE_URL: stack.databaseUrl, CALLBACK_ALLOW: '127.0.0.1' },
  })
  return stdout.trim()
}

async function receiver(...status: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...status)
  receivers.push(started)
  return started
}

/** Uploads an image, with a callback unless it has none; the job's id. */
async function upload(callbackUrl: string | null, image = 'png-alpha' as Parameters<typeof testImage>[0]) {
  const { bytes, contentType } = await testImage(image)
  const options = { contentType, ...(callbackUrl !== null && { callbackUrl }) }
  return (await stack.client().upload(new Uint8Array(bytes), options)).job_id
}

interface Callback {
  callback_id: string
  state: string
  attempts: number
  deliveries: { status_code?: number; error?: string }[]
}

async function callbacksOf(jobId: string): Promise<Callback[]> {
  const response = await stack.get(`/v1/jobs/${jobId}/callbacks`)
  expect(response.status).toBe(200)
  return ((await response.json()) as { callbacks: Callback[] }).callbacks
}

/** The job's callback once it is in that state. */
const settled = (jobId: string, state: string) =>
  until(async () => (await callbacksOf(jobId)).find((callback) => callback.state === state))

const resend = (jobId: string, callbackId: string) =>
  fetch(`http://127.0.0.1:${api.port}/v1/jobs/${jobId}/callbacks/${callbackId}/resend`, { method: 'POST' })

/** Time passes: the next try is due, or the sender's lease has run out. */
const timePasses = (jobId: string) =>
  stack.query("update callbacks set next_attempt_at = now() where job_id = $1 and state = 'PENDING'", jobId)

/** The Standard Webhooks signature, computed from the specification alone. */
function signatureOf({ headers, body }: Message, by: string): string {
  const key = Buffer.from(by.replace('whsec_', ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

describe('a job that asked for a callback', () => {
  it('has its success told, signed, once', async () => {
    const { url, messages, received } = await receiver()
    const jobId = await upload(`${url}/done?token=abc`)
    const [message] = (await received('/done?token=abc')) as [Message]
    const job = await stack.job(jobId)
    expect(JSON.parse(message.body)).toEqual({
      type: 'job.succeeded',
      timestamp: job.finished_at,
      data: {
        ...{ job_id: jobId, status: 'SUCCEEDED', done: true, url: job.url, finished_at: job.finished_at },
      },
    })
    expect(message.headers['webhook-signature']).toBe(signatureOf(message, secret))
    expect(Math.abs(Date.now() / 1_000 - Number(message.headers['webhook-timestamp']))).toBeLessThan(300)
    const callback = await settled(jobId, 'DELIVERED')
    expect(callback).toMatchObject({
      ...{ callback_id: message.headers['webhook-id'], attempts: 1, deliveries: [{ status_code: 200 }] },
    })
    expect(await callbacksOf(jobId)).toHaveLength(1)
    expect(messages).toHaveLength(1)
  })

  it('has its failure told, with why', async () => {
    const { url, received } = await receiver()
    const jobId = await upload(`${url}/`, 'png-data-damaged')
    const [message] = (await received('/')) as [Message]
    const job = await stack.job(jobId)
    expect(JSON.parse(message.body)).toMatchObject({
      type: 'job.failed',
      data: { job_id: jobId, status: 'FAILED', error: job.error },
    })
    expect(message.headers['webhook-signature']).toBe(signatureOf(message, secret))
  })

  it('has it told to its tenant’s URL where it names none', async () => {
    const { url, received } = await receiver()
    await operate('callbacks', 'url', 'set', '--tenant', 'default', '--url', `${url}/tenant`)
    const jobId = await upload(null)
    const [message] = (await received('/tenant')) as [Message]
    expect(JSON.parse(message.body).data.job_id).toBe(jobId)
    await operate('callbacks', 'url', 'clear', '--tenant', 'default')
    const silent = await upload(null)
    await stack.ended(silent)
    expect(await callbacksOf(silent)).toEqual([])
  })

  it('has it signed with both secrets while one replaces the other', async () => {
    const next = await operate('callbacks', 'secret', 'rotate', '--tenant', 'default')
    const { url, received } = await receiver()
    await upload(`${url}/`)
    const [message] = (await received('/')) as [Message]
    const signatures = [next, secret].map((each) => signatureOf(message, each))
    expect(message.headers['webhook-signature']).toBe(signatures.join(' '))
  })
})

describe('the documentation’s code', () => {
  it('takes what is sent, and nothing that was changed, or signed by another, or is old', async () => {
    const { url, received } = await receiver()
    await upload(`${url}/`)
    const [{ headers, body }] = (await received('/')) as [Message]
    const verify = await documentedVerify()
    const given = headers as Record<string, string>
    expect(verify(given, body, secret)).toEqual(JSON.parse(body))
    expect(verify(given, `${body} `, secret)).toBeNull()
    expect(verify(given, body, `whsec_${Buffer.alloc(32).toString('base64')}`)).toBeNull()
    expect(verify({ ...given, 'webhook-id': 'msg_other' }, body, secret)).toBeNull()
    expect(verify({ ...given, 'webhook-timestamp': '1' }, body, secret)).toBeNull()
    const two = { ...given, 'webhook-signature': `v1,AAAA ${given['webhook-signature']}` }
    expect(verify(two, body, secret)).toEqual(JSON.parse(body))
    expect(await verifyWebhook(given, body, secret)).toEqual(JSON.parse(body))
  })
})

describe('a receiver', () => {
  it('that fails is sent the same again, under the same id', async () => {
    const { url, received } = await receiver((_, nth) => [500, 302, 200][nth - 1] ?? null)
    const jobId = await upload(`${url}/`)
    for (const nth of [1, 2]) {
      await received('/', nth)
      await until(async () => (await callbacksOf(jobId))[0]?.deliveries.length === nth)
      await timePasses(jobId)
    }
    const callback = await settled(jobId, 'DELIVERED')
    const messages = await received('/', 3)
    expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(messages.map(({ body }) => body)).size).toBe(1)
    expect(callback.deliveries.map((delivery) => delivery.status_code)).toEqual([500, 302, 200])
    for (const message of messages) {
      expect(message.headers['webhook-signature']).toBe(signatureOf(message, secret))
    }
  })

  it('that took a callback is sent it again when its owner asks, under the same id', async () => {
    const { url, received } = await receiver()
    const jobId = await upload(`${url}/`)
    const { callback_id: id } = await settled(jobId, 'DELIVERED')
    expect((await resend(jobId, id)).status).toBe(202)
    const messages = await received('/', 2)
    expect(messages.map(({ headers }) => headers['webhook-id'])).toEqual([id, id])
    expect((await resend(jobId, 'msg_unknown')).status).toBe(404)
  })

  it('that is gone is left alone, until it takes what its owner asked for', async () => {
    const { url, messages, received } = await receiver((_, nth) => (nth === 1 ? 410 : 200))
    const first = await upload(`${url}/`)
    const { callback_id: id } = await settled(first, 'DISABLED')
    const second = await upload(`${url}/`)
    await stack.ended(second)
    expect(await callbacksOf(second)).toMatchObject([{ state: 'DISABLED', attempts: 0 }])
    expect(messages).toHaveLength(1)
    expect((await resend(first, id)).status).toBe(202)
    await settled(first, 'DELIVERED')
    const third = await upload(`${url}/`)
    await settled(third, 'DELIVERED')
    expect(await received('/', 3)).toHaveLength(3)
  })

  it('that never answers delays neither jobs nor other receivers', async () => {
    const dead = await receiver(() => null)
    const alive = await receiver()
    const waiting = []
    for (let i = 0; i < 6; i++) waiting.push(await upload(`${dead.url}/`))
    await dead.received('/', 4)
    const jobId = await upload(`${alive.url}/`)
    await settled(jobId, 'DELIVERED')
    for (const each of waiting) {
      expect(await stack.ended(each)).toMatchObject({ status: 'SUCCEEDED' })
      expect(await callbacksOf(each)).toMatchObject([{ state: 'PENDING' }])
    }
  })

  it('inside of the service’s network is refused when the job is', async () => {
    const { bytes } = await testImage('png-alpha')
    for (const url of [
      'https://10.0.0.1/',
      'http://127.0.0.2/',
      'http://hooks.example/',
      'https://localhost/',
    ]) {
      const query = `callback_url=${encodeURIComponent(url)}`
      const response = await fetch(`http://127.0.0.1:${api.port}/v1/images?${query}`, {
        ...{ method: 'POST', body: new Uint8Array(bytes) },
      })
      expect(response.status, url).toBe(422)
      expect(await response.json()).toMatchObject({ code: 'callback_url_refused' })
    }
  })
})

/** Who waits to write down how a callback went. */
const RECORDING = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'img42-callbacks' and wait_event_type = 'Lock'`

describe('a reconciler', () => {
  it('that is killed between sending and recording has the callback sent again, under the same id', async () => {
    const { url, messages, received } = await receiver((_, nth) => (nth === 1 ? null : 200))
    const jobId = await upload(`${url}/`)
    const [message] = (await received('/')) as [Message]
    await asAdmin(stack.databaseUrl, async (client) => {
      // The record waits for this lock, and dies with its process before it has got it.
      await client.query('begin')
      await client.query('select from callbacks where job_id = $1 for update', [jobId])
      message.answer(200)
      await until(async () => (await stack.query(RECORDING)).length > 0)
      await reconciler.kill()
      await stack.query(`select pg_terminate_backend(pid) from (${RECORDING}) recording`)
      await until(async () => (await stack.query(RECORDING)).length === 0)
      await client.query('rollback')
    })
    expect(await callbacksOf(jobId)).toMatchObject([{ state: 'PENDING', deliveries: [] }])
    reconciler = await stack.start('reconciler')
    await timePasses(jobId)
    const callback = await settled(jobId, 'DELIVERED')
    expect(messages.map(({ headers }) => headers['webhook-id'])).toEqual([
      callback.callback_id,
      callback.callback_id,
    ])
    expect(messages[1]?.body).toBe(messages[0]?.body)
  })

  it('that is told to stop lets what it is sending be recorded', async () => {
    const { url, received } = await receiver(() => null)
    const jobId = await upload(`${url}/`)
    const [message] = (await received('/')) as [Message]
    const stopped = reconciler.stop()
    await reconciler.logged(({ msg }) => msg === 'stopping')
    message.answer(200)
    expect(await stopped).toBe(0)
    expect(await callbacksOf(jobId)).toMatchObject([{ state: 'DELIVERED' }])
    reconciler = await stack.start('reconciler')
  })

  it('shares what is due with others: each callback is sent once', async () => {
    const second = await stack.start('reconciler')
    const { url, messages } = await receiver()
    const jobIds = []
    for (let i = 0; i < 12; i++) jobIds.push(await upload(`${url}/${i}`))
    for (const jobId of jobIds) await settled(jobId, 'DELIVERED')
    expect(messages).toHaveLength(12)
    await second.kill()
  })
})
