import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testImage } from '../images.ts'
import type { AppProcess } from './app-process.ts'
import { type Stack, startStack } from './stack.ts'

let stack: Stack
let jpeg: Buffer
let workers: AppProcess[]

/** As a 45-second job is to a visibility timeout of 30 seconds. */
const JOB_MS = 4_500
const VISIBILITY_SECONDS = 3

beforeEach(async () => {
  stack = await startStack({ VISIBILITY_SECONDS: String(VISIBILITY_SECONDS) })
  jpeg = (await testImage('jpeg-orientation-6')).bytes
  stack.aws.on(/^S3 PUT outputs\//, async ({ forward }) => {
    await delay(JOB_MS)
    return forward()
  })
  await Promise.all([stack.start('api'), stack.start('reconciler')])
  workers = await Promise.all([stack.start('worker'), stack.start('worker')])
})
afterEach(() => stack?.close())

test('a job that takes longer than the visibility timeout is delivered once, because its visibility is extended', async () => {
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  expect(deliveries(jobId)).toBe(1)
})

test('with the extensions lost on the way it is delivered again, and done once all the same', async () => {
  // The broker never hears of them, and the worker is told that all went well.
  stack.aws.on(/^SQS ChangeMessageVisibility/, async ({ call }) => {
    const { Entries = [] } = JSON.parse(call.body.toString()) as {
      Entries?: { Id: string; VisibilityTimeout: number }[]
    }
    const body = Buffer.from(JSON.stringify({ Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] }))
    return { status: 200, headers: { 'content-type': 'application/x-amz-json-1.0' }, body }
  })
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  expect(deliveries(jobId)).toBeGreaterThanOrEqual(2)
  expect(stack.aws.calls.filter((name) => name.startsWith('S3 PUT outputs/'))).toHaveLength(1)
})

/** How often either worker received a message of the job. */
function deliveries(jobId: string): number {
  const lines = workers.flatMap((worker) => worker.lines)
  return lines.filter((line) => line.msg === 'received' && line.job_id === jobId).length
}
