import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../chaos/tcp-proxy.ts'
import type { AppProcess } from '../end-to-end/app-process.ts'
import type { Rule } from '../end-to-end/interceptor.ts'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'

// Real processes, several of them: a busy machine takes its time to start them.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

let stack: Stack
let jpeg: Buffer
let proxy: TcpProxy
/** Of the database, through a proxy. */
let proxiedUrl: string

beforeEach(async () => {
  jpeg = (await testImage('jpeg-orientation-6')).bytes
  stack = await startStack({ CONCURRENCY: '1' })
  const url = new URL(stack.databaseUrl)
  proxy = await startTcpProxy(Number(url.port))
  url.port = String(proxy.port)
  proxiedUrl = url.href
  await Promise.all([stack.start('api'), stack.start('reconciler')])
})
afterEach(async () => {
  await stack?.close()
  await proxy?.close()
})

test('a completion whose commit succeeded and whose connection died is asked again, read, and the message deleted: one effect', async () => {
  const worker = await stack.start('worker', { DATABASE_URL: proxiedUrl })
  // The statement has committed; its answer, and everything else on this connection, never arrives.
  let cut = 0
  const act = () => {
    cut += 1
  }
  proxy.set({ pattern: /insert into processed_operations/, when: 'after', act })
  const jobId = await stack.accept(jpeg, 'image/jpeg')

  await worker.logged((line) => line.msg === 'not answered: asking again' && line.job_id === jobId)
  await worker.logged((line) => line.msg === 'ended' && line.job_id === jobId)
  await until(async () => stack.aws.calls.some((name) => name.startsWith('SQS DeleteMessage')))
  expect(cut).toBe(1)
  expect(await stack.job(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  expect(await markers(jobId)).toBe(1)
  expect(await stack.events(jobId)).toEqual(['accepted', 'published', 'claimed', 'succeeded'])
})

test('a worker that stands still for longer than its lease finds its fence lost, touches nothing, and there is one effect', async () => {
  const still = await stack.start('worker')
  const { reached, letGo } = holdFirst(/^S3 PUT outputs\//)
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  await reached
  // As a blocked event loop does: no timer, no heartbeat, no answer.
  process.kill(still.pid, 'SIGSTOP')
  const other = await stack.start('worker')
  const done = await stack.ended(jobId)
  expect(done).toMatchObject({ status: 'SUCCEEDED', attempts: 2 })
  await other.logged((line) => line.msg === 'ended' && line.job_id === jobId)
  const thumbnail = await bytesOf(jobId)

  process.kill(still.pid, 'SIGCONT')
  await still.logged((line) => line.msg === 'lease lost: nothing touched' && line.job_id === jobId)
  // Its output lands late, and is the same.
  await letGo()
  expect(await bytesOf(jobId)).toEqual(thumbnail)
  expect(await stack.job(jobId)).toEqual(done)
  expect(await markers(jobId)).toBe(1)
  const events = await stack.events(jobId)
  expect(events.filter((event) => event === 'succeeded')).toHaveLength(1)
  expect(events).not.toContain('put_back')
})

test('a PUT that hangs while heartbeats go on ends at its deadline: the attempt is given back, and the next one does it', async () => {
  const worker = await stack.start('worker', { STORE_CALL_MS: '4500' })
  const { reached } = holdFirst(/^S3 PUT outputs\//)
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  await reached
  const before = extensions()
  await worker.logged((line) => line.msg === 'dependency failed' && line.job_id === jobId)
  expect(extensions() - before).toBeGreaterThanOrEqual(2)

  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  const events = await stack.events(jobId)
  expect(events.sort()).toEqual(['accepted', 'claimed', 'claimed', 'published', 'put_back', 'succeeded'])
  expect(heartbeatTrouble(worker)).toEqual([])
})

function extensions(): number {
  return stack.aws.calls.filter((name) => name.startsWith('SQS ChangeMessageVisibility')).length
}

function heartbeatTrouble(worker: AppProcess) {
  return worker.lines.filter(({ msg }) => msg.startsWith('lease lost') || msg === 'heartbeat not answered')
}

/** The first such call has neither effect nor answer until it is let go. */
function holdFirst(pattern: RegExp): { reached: Promise<void>; letGo: () => Promise<unknown> } {
  const reached = Promise.withResolvers<void>()
  let letGo: () => Promise<unknown> = () => Promise.resolve()
  let first = true
  const rule: Rule = async ({ forward }) => {
    if (!first) return forward()
    first = false
    letGo = forward
    reached.resolve()
    return null
  }
  stack.aws.on(pattern, rule)
  return { reached: reached.promise, letGo: () => letGo() }
}

async function bytesOf(jobId: string): Promise<Buffer> {
  const response = await stack.get(`/v1/images/${jobId}/thumbnail`)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

async function markers(jobId: string): Promise<number> {
  return (await stack.query('select 1 from processed_operations where job_id = $1', jobId)).length
}
