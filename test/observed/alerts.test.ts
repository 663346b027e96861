import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeJobMessage } from '../../core/job-message.ts'
import { originalKey } from '../../core/object-keys.ts'
import type { AppProcess } from '../end-to-end/app-process.ts'
import { unavailable } from '../end-to-end/interceptor.ts'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'
import { type StubServer, startStubServer } from '../stub-server.ts'
import { type Scrape, scrape } from './scrape.ts'

// What each rule of infra/observe/rules.yaml waits for, caused, and seen in the metric that it reads. Times are scaled down
// with the rest. Dead letters, and a state that cannot be read: metrics.test.ts.

let stack: Stack
let moderator: StubServer
let api: AppProcess
let reconciler: AppProcess
/** How long the moderator takes, in milliseconds. */
let judgeMs = 0

beforeAll(async () => {
  moderator = await startStubServer((request, response) => {
    request.resume().on('end', () => {
      setTimeout(() => response.end(JSON.stringify({ verdict: 'approved', labels: [] })), judgeMs)
    })
  })
  stack = await startStack({ MODERATION_URL: moderator.url })
  ;[api, reconciler] = (await Promise.all([stack.start('api'), stack.start('reconciler')])) as [
    AppProcess,
    AppProcess,
  ]
})
afterAll(async () => {
  await stack?.close()
  await moderator?.stop()
})

const accept = async () => stack.accept((await testImage('jpeg-orientation-6')).bytes, 'image/jpeg')

const crossing = (app: AppProcess, is: (said: Scrape) => boolean) =>
  until(async () => {
    const said = await scrape(app.metricsPort)
    return is(said) && said
  })

test('Img42OutboxWaits: while the queue takes nothing, the oldest row grows old, and failures are counted', async () => {
  const answerAgain = stack.aws.on(/SendMessage/, async () => unavailable())
  const jobId = await accept()
  const said = await crossing(reconciler, (of) => of.value('img42_outbox_oldest_age_seconds')! > 1)
  expect(said.value('img42_publish_failures_total', { reason: 'no_answer' })).toBeGreaterThan(0)
  answerAgain()
  await crossing(reconciler, (of) => of.value('img42_outbox_oldest_age_seconds') === 0)
  await stack.client().cancel(jobId)
})

test('Img42OldestJob and Img42NothingCompletes: without a worker jobs grow old, and none ends', async () => {
  await accept()
  const said = await crossing(
    reconciler,
    (of) => of.value('img42_oldest_job_age_seconds', { class: 'default' })! > 2,
  )
  expect(said.value('img42_jobs')).toBe(1)
  expect(said.value('img42_jobs_ended_total')).toBe(0)
  const worker = await stack.start('worker')
  await crossing(reconciler, (of) => of.value('img42_jobs') === 0)
  await crossing(worker, (of) => of.value('img42_jobs_ended_total') === 1)
  await worker.stop()
})

test('Img42SlowRuns: a run that takes more than half of the visibility timeout is seen in its histogram', async () => {
  judgeMs = 2_000
  const worker = await stack.start('worker')
  await stack.ended(await accept())
  judgeMs = 0
  const said = await crossing(worker, (of) => of.value('img42_job_run_seconds_count') === 1)
  const half = said.value('img42_timing_seconds', { name: 'visibility' })! / 2
  expect(said.value('img42_job_run_seconds_sum')).toBeGreaterThan(half)
  expect(said.value('img42_job_run_seconds_bucket', { le: '1' })).toBe(0)
  await worker.stop()
})

test('Img42Repairs: a job of a worker that dies is rescued, and the repair counted', async () => {
  judgeMs = 30_000
  const worker = await stack.start('worker')
  const jobId = await accept()
  await worker.logged(({ msg, job_id }) => msg === 'claimed' && job_id === jobId)
  await worker.kill()
  judgeMs = 0
  await crossing(reconciler, (of) => of.value('img42_repairs_total', { kind: 'rescued' }) === 1)
  const another = await stack.start('worker')
  await stack.ended(jobId)
  await another.stop()
})

test('Img42FalseQuarantines: a message of a finished job among the dead letters is told apart', async () => {
  const jobId = await accept()
  const worker = await stack.start('worker')
  await stack.ended(jobId)
  const message = encodeJobMessage({ jobId, objectKey: originalKey(jobId), generation: 1 })
  await stack.send(stack.queues.deadLettersUrl, message)
  const said = await crossing(
    reconciler,
    (of) => of.value('img42_dead_letters_last_hour', { kind: 'false' }) === 1,
  )
  expect(said.value('img42_dead_letters_last_hour', { kind: 'true' })).toBe(0)
  await worker.stop()
})

test('Img42TargetDown and Img42NoReconciler: what is gone tells nothing', async () => {
  await api.kill()
  await reconciler.kill()
  for (const { metricsPort } of [api, reconciler])
    await expect(scrape(metricsPort)).rejects.toThrow('fetch failed')
})
