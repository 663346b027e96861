import { PurgeQueueCommand } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createSqsClient } from '../../infra/sqs/client.ts'
import { testImage } from '../images.ts'
import type { AppProcess } from './app-process.ts'
import type { Answer, Rule } from './interceptor.ts'
import { type Stack, startStack, until } from './stack.ts'

let stack: Stack
let jpeg: Buffer
let api: AppProcess
let reconciler: AppProcess
let stopIntercepting = () => {}

beforeAll(async () => {
  jpeg = (await testImage('jpeg-orientation-6')).bytes
  stack = await startStack()
  ;[api, reconciler] = await Promise.all([stack.start('api'), stack.start('reconciler')])
})
afterAll(() => stack?.close())

let workers: AppProcess[] = []
beforeEach(() => {
  workers = []
  stack.aws.calls.length = 0
})
afterEach(async () => {
  stopIntercepting()
  await Promise.all(workers.map((worker) => worker.stop()))
  // A message that a stopped worker gave back would be the next test's first delivery.
  const sqs = createSqsClient(stack.aws.endpointUrl)
  await sqs.send(new PurgeQueueCommand({ QueueUrl: stack.queues.jobsUrl }))
  sqs.destroy()
})

test('a worker killed after the thumbnail was stored and before the completion: the job is done again, with one effect', async () => {
  const worker = await startWorker()
  const killed = onFirst(/^S3 PUT outputs\//, async (forward) => {
    await forward()
    await worker.kill()
  })
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  await killed
  await startWorker()

  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 2 })
  expect(stack.aws.calls.filter((name) => name.startsWith('S3 PUT outputs/'))).toHaveLength(2)
  expect(await effects(jobId)).toEqual({ markers: 1, succeeded: 1 })
  expect((await stack.get(`/v1/images/${jobId}/thumbnail`)).status).toBe(200)
})

test('a worker killed after the completion and before the delete: the message comes back to a finished job and goes', async () => {
  const worker = await startWorker()
  const killed = onFirst(/^SQS DeleteMessage/, () => worker.kill())
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  await killed
  expect(await stack.job(jobId)).toMatchObject({ status: 'SUCCEEDED' })
  const second = await startWorker()

  await second.logged((line) => line.msg === 'delivery of no use' && line.job_id === jobId)
  expect(await stack.job(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  expect(await effects(jobId)).toEqual({ markers: 1, succeeded: 1 })
})

test('a relay killed between the send and its confirmation: the message is sent twice and done once', async () => {
  const killed = onFirst(/^SQS SendMessageBatch/, async (forward) => {
    await forward()
    await reconciler.kill()
  })
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  await killed
  reconciler = await stack.start('reconciler')
  await until(async () => (await stack.events(jobId)).includes('published'))
  const worker = await startWorker()

  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  expect(stack.aws.calls.filter((name) => name === 'SQS SendMessageBatch')).toHaveLength(2)
  await until(async () => {
    const received = worker.lines.filter((line) => line.msg === 'received' && line.job_id === jobId)
    return received.length === 2
  })
  expect(await effects(jobId)).toEqual({ markers: 1, succeeded: 1 })
})

test('an API killed between the upload and its commit: no job, and the key is free again within its lease', async () => {
  const rows = () => stack.query('select job_id from jobs')
  const before = (await rows()).length
  const killed = onFirst(/^S3 PUT originals\//, async (forward) => {
    await forward()
    await api.kill()
  })
  await expect(stack.post(jpeg, 'image/jpeg', 'a-key')).rejects.toThrow()
  await killed
  expect(await rows()).toHaveLength(before)

  ;[api] = await Promise.all([stack.start('api'), startWorker()])
  const response = await until(async () => {
    const again = await stack.post(jpeg, 'image/jpeg', 'a-key')
    if (again.status === 202) return again
    expect(again.status).toBe(409)
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0)
    return null
  })
  const { job_id: jobId } = (await response.json()) as { job_id: string }
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED' })
  expect(await rows()).toHaveLength(before + 1)
})

test('a job that is not begun within its expires_in ends as expired, and no worker that comes later does any of it', async () => {
  const client = stack.client()
  const { job_id: jobId } = await client.upload(new Uint8Array(jpeg), { expiresIn: 1 })
  expect(await client.waitFor(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'expired' } })

  const worker = await startWorker()
  await worker.logged((line) => line.msg === 'delivery of no use' && line.job_id === jobId)
  expect(await stack.events(jobId)).not.toContain('claimed')
  expect(stack.aws.calls.filter((name) => name.startsWith('S3 GET originals/'))).toEqual([])
})

async function startWorker(): Promise<AppProcess> {
  const worker = await stack.start('worker')
  workers.push(worker)
  return worker
}

/** Does something at the first such call, which stays without an answer; resolves when that is done. */
function onFirst(pattern: RegExp, act: (forward: () => Promise<Answer>) => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    let first = true
    const rule: Rule = async ({ forward }) => {
      if (!first) return forward()
      first = false
      await act(forward).then(() => resolve(), reject)
      return null
    }
    stopIntercepting = stack.aws.on(pattern, rule)
  })
}

async function effects(jobId: string) {
  const [counts] = await stack.query<{ markers: number; succeeded: number }>(
    `select (select count(*) from processed_operations where job_id = $1)::int as markers,
       (select count(*) from job_events where job_id = $1 and event = 'succeeded')::int as succeeded`,
    jobId,
  )
  return counts
}
