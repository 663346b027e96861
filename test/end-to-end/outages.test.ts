import { afterEach, beforeEach, expect, test } from 'vitest'
import { testImage } from '../images.ts'
import { unavailable } from './interceptor.ts'
import { type Stack, startStack, until } from './stack.ts'

let stack: Stack
let jpeg: Buffer

const BACKOFF_CAP_MS = 1_000

beforeEach(async () => {
  jpeg = (await testImage('jpeg-orientation-6')).bytes
  stack = await startStack({ BACKOFF_CAP_MS: String(BACKOFF_CAP_MS) })
  await Promise.all([stack.start('api'), stack.start('reconciler')])
})
afterEach(() => stack?.close())

test('S3 refuses for longer than a budget of attempts would last: nothing fails, nothing is charged, and afterwards all is done', async () => {
  const jobs = await Promise.all(Array.from({ length: 4 }, () => stack.accept(jpeg, 'image/jpeg')))
  const recover = stack.aws.on(/^S3 /, async () => unavailable())
  await stack.start('worker')
  // Five attempts, with the longest pauses that these settings allow, would be over by then: by the database's clock.
  await until(async () => {
    const [outage] = await stack.query<{ over: boolean }>(
      `select min(at) < now() - 5 * $1::int * interval '1 millisecond' as over from job_events where event = 'put_back'`,
      BACKOFF_CAP_MS,
    )
    return outage!.over
  })
  recover()

  for (const jobId of jobs) {
    expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  }
  expect(await stack.query(`select * from dead_letters`)).toEqual([])
  const charged = await stack.query(
    `select * from job_events where event = 'put_back' and (detail->>'charged')::boolean`,
  )
  expect(charged).toEqual([])
})

test('SIGTERM with a job running: it is given back uncharged at once, and the next worker does it', async () => {
  const worker = await stack.start('worker')
  let held = false
  const letGo = stack.aws.on(/^S3 PUT outputs\//, async () => {
    held = true
    return null
  })
  const jobId = await stack.accept(jpeg, 'image/jpeg')
  await until(async () => held)
  expect(await worker.stop()).toBe(0)
  expect(await stack.job(jobId)).toMatchObject({ status: 'QUEUED', attempts: 0 })
  letGo()

  await stack.start('worker')
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  // Not by the lease running out, nor by a sweep.
  expect(await stack.events(jobId)).not.toContain('rescued')
})
