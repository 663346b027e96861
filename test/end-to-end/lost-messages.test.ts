import { PurgeQueueCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import { encodeJobMessage } from '../../core/job-message.ts'
import { originalKey } from '../../core/object-keys.ts'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { createSqsClient } from '../../infra/sqs/client.ts'
import { testImage } from '../images.ts'
import { unavailable } from './interceptor.ts'
import { type Stack, startStack, until } from './stack.ts'

let stack: Stack
let sqs: ReturnType<typeof createSqsClient>
let png: Buffer

const REPUBLISH_AGE_MS = 3_000

beforeEach(async () => {
  png = (await testImage('png-one-pixel')).bytes
  stack = await startStack({
    VISIBILITY_SECONDS: '1',
    LEASE_MS: '1000',
    HEARTBEAT_MS: '300',
    CALL_MS: '900',
    GRACE_MS: '2000',
    REPUBLISH_AGE_MS: String(REPUBLISH_AGE_MS),
    EVIDENCE_MS: '600',
  })
  sqs = createSqsClient(stack.aws.endpointUrl)
  await Promise.all([stack.start('api'), stack.start('reconciler')])
})
afterEach(async () => {
  sqs?.destroy()
  await stack?.close()
})

test('a job whose message was purged is published again, once', async () => {
  const jobId = await stack.accept(png, 'image/png')
  await until(async () => (await stack.events(jobId)).includes('published'))
  await sqs.send(new PurgeQueueCommand({ QueueUrl: stack.queues.jobsUrl }))

  await until(async () => (await count(jobId, 'published')) === 2)
  await stack.start('worker')
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  expect(await count(jobId, 'republished')).toBe(1)
})

test('a job that waits for its next attempt when its message is purged is published again, once', async () => {
  const recover = stack.aws.on(/^S3 GET originals\//, async () => unavailable())
  const worker = await stack.start('worker')
  const jobId = await stack.accept(png, 'image/png')
  await until(async () => (await stack.events(jobId)).includes('put_back'))
  await worker.stop()
  recover()
  expect(await stack.job(jobId)).toMatchObject({ status: 'QUEUED' })
  await sqs.send(new PurgeQueueCommand({ QueueUrl: stack.queues.jobsUrl }))

  await until(async () => (await count(jobId, 'published')) === 2)
  await stack.start('worker')
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  expect(await count(jobId, 'republished')).toBe(1)
})

test('2,000 jobs that wait with no worker for longer than the re-publish age leave 2,000 messages in the queue, and at most 20 more', async () => {
  const jobs = 2_000
  // Straight into the table, as the API does it: the uploads are not what this is about.
  const original = { contentType: 'image/png', bytes: png.length, sha256: '', width: 1, height: 1 }
  const db = openDatabase(stack.databaseUrl, { max: 4, callMs: 5_000, application: 'test' })
  const table = createPostgresJobs(db)
  for (let i = 0; i < jobs; i++) {
    const jobId = `img_${i}`
    const job = {
      jobId,
      tenant: 'default',
      objectKey: originalKey(jobId),
      original,
      options: DEFAULT_OPTIONS,
      warnings: [],
      deadlineMs: 60_000,
      callbackUrl: null,
      traceparent: null,
    }
    await table.accept({ ...job, idempotency: null })
  }
  await db.destroy()

  // By the database's clock, every one of them has been published and has waited twice as long as it takes to be suspect.
  await until(async () => {
    const [oldest] = await stack.query<{ jobs: number; waited: boolean }>(
      `select count(published_at)::int as jobs,
         max(published_at) < now() - $1::int * interval '1 millisecond' as waited from jobs`,
      2 * REPUBLISH_AGE_MS,
    )
    return oldest!.jobs === jobs && oldest!.waited
  })
  const [sent] = await stack.query<{ published: number; republished: number }>(
    `select count(*) filter (where event = 'published')::int as published,
       count(*) filter (where event = 'republished')::int as republished from job_events`,
  )
  expect(sent!.republished).toBe(0)
  expect(sent!.published).toBeLessThanOrEqual(jobs + 20)
})

test('a message that lands in the dead-letter queue although its job is done changes nothing, and is recorded as a false quarantine', async () => {
  const worker = await stack.start('worker')
  const jobId = await stack.accept(png, 'image/png')
  await stack.ended(jobId)
  await worker.stop()

  // Another delivery of the same message, received by somebody who never deletes it.
  const { body, attributes } = encodeJobMessage({ jobId, objectKey: originalKey(jobId), generation: 1 })
  const MessageAttributes = Object.fromEntries(
    Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
  )
  const QueueUrl = stack.queues.jobsUrl
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body, MessageAttributes }))
  await until(async () => {
    await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0, MaxNumberOfMessages: 1 }))
    return (await stack.query('select * from dead_letters')).length > 0
  })

  expect(await stack.query('select job_id, verdict from dead_letters')).toEqual([
    { job_id: jobId, verdict: 'false_quarantine' },
  ])
  expect(await stack.job(jobId)).toMatchObject({ status: 'SUCCEEDED' })
  expect(await count(jobId, 'succeeded')).toBe(1)
})

async function count(jobId: string, event: string): Promise<number> {
  return (await stack.events(jobId)).filter((name) => name === event).length
}
