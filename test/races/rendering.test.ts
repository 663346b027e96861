import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { heavyTiff } from '../../apps/worker/renderer/testing/heavy-tiff.ts'
import { HAS_PROC, renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import type { AppProcess } from '../end-to-end/app-process.ts'
import { SCALED, type Stack, startStack, until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'

// Real processes, several of them: a busy machine takes its time to start them.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

let stack: Stack
let workers: AppProcess[]
let png: Buffer

async function start(env: Record<string, string>, count: number): Promise<void> {
  png = (await testImage('png-one-pixel')).bytes
  stack = await startStack(env)
  await Promise.all([stack.start('api'), stack.start('reconciler')])
  workers = await Promise.all(Array.from({ length: count }, () => stack.start('worker')))
}
beforeEach(() => {
  workers = []
})
afterEach(() => stack?.close())

test.skipIf(!HAS_PROC)(
  'an image that never finishes decoding costs its budget and no more, and other jobs proceed meanwhile',
  async () => {
    await start({ CONCURRENCY: '1', ATTEMPT_MS: '8000', MAX_ATTEMPTS: '2' }, 2)
    const poison = await onEachAttempt('SIGSTOP')
    await othersSucceed()
    expect(await stack.job(poison)).toMatchObject({ status: 'RUNNING' })
    await exhausted(poison, 'timeout')
    await othersSucceed()
    const reclaims = workers.flatMap(({ lines }) =>
      lines.filter(
        ({ msg, killed_for }) => msg === 'rendering process replaced' && killed_for === 'abandoned',
      ),
    )
    expect(reclaims.length).toBeGreaterThanOrEqual(2)
    for (const reclaim of reclaims) {
      expect(reclaim).toMatchObject({
        gone_after_ms: expect.any(Number),
        replaced_after_ms: expect.any(Number),
      })
    }
  },
)

test.skipIf(!HAS_PROC)(
  'an image that kills its rendering process costs its budget and no more, and other jobs are unaffected',
  async () => {
    await start({ CONCURRENCY: '1', MAX_ATTEMPTS: '3' }, 1)
    const poison = await onEachAttempt('SIGKILL')
    await othersSucceed()
    await exhausted(poison, 'renderer_crashed')
    await othersSucceed()
  },
)

test('every core decodes through several heartbeats: they are on time, and no lease is lost', async () => {
  await start({ CONCURRENCY: '2', ATTEMPT_MS: '55000', MAX_PIXELS: '1000000000' }, 1)
  const tiff = heavyTiff(HEAVY_ROWS)
  const jobs = await Promise.all([1, 2].map(() => stack.accept(tiff, 'image/tiff')))
  for (const jobId of jobs) {
    expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
    expect((await stack.events(jobId)).sort()).toEqual(['accepted', 'claimed', 'published', 'succeeded'])
  }
  const trouble = workers[0]!.lines.filter(
    ({ msg }) => msg.startsWith('lease lost') || msg === 'heartbeat not answered',
  )
  expect(trouble).toEqual([])
  const [took] = await stack.query<{ ms: number }>(
    'select min(extract(epoch from finished_at - claimed_at) * 1000)::float8 as ms from jobs',
  )
  // Otherwise it has shown nothing.
  expect(took!.ms).toBeGreaterThan(3 * Number(SCALED.HEARTBEAT_MS))
})

/** Four seconds of a core, or a good two of a fast one. */
const HEAVY_ROWS = 10

/** Accepts an image whose attempts all meet the signal, sent to the process that is about to decode it. */
async function onEachAttempt(signal: 'SIGSTOP' | 'SIGKILL'): Promise<string> {
  let poison = ''
  const accepted = Promise.withResolvers<void>()
  stack.aws.on(/^S3 GET originals\//, async ({ call, forward }) => {
    await accepted.promise
    if (!call.name.endsWith(poison)) return forward()
    const [row] = await stack.query<{ lease_owner: string }>(
      'select lease_owner from jobs where job_id = $1',
      poison,
    )
    // host/pid/…
    const [child] = renderProcessesOf(Number(row!.lease_owner.split('/')[1]))
    const answer = await forward()
    process.kill(child!, signal)
    return answer
  })
  poison = await stack.accept(png, 'image/png')
  accepted.resolve()
  await until(async () => (await stack.events(poison)).includes('claimed'))
  return poison
}

async function othersSucceed(): Promise<void> {
  const jobs = await Promise.all([1, 2, 3].map(() => stack.accept(png, 'image/png')))
  for (const jobId of jobs) {
    expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
  }
}

async function exhausted(jobId: string, code: string): Promise<void> {
  const job = await stack.ended(jobId)
  expect(job).toMatchObject({ status: 'FAILED', error: { code: 'attempts_exhausted' } })
  expect((job.error as { message: string }).message).toContain(`(${code})`)
  const letters = await stack.query<{ verdict: string }>(
    'select verdict from dead_letters where job_id = $1',
    jobId,
  )
  expect(letters).toEqual([{ verdict: 'failed' }])
  const markers = await stack.query('select 1 from processed_operations where job_id = $1', jobId)
  expect(markers).toHaveLength(1)
}
