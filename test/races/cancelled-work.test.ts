import { afterEach, expect, test, vi } from 'vitest'
import { heavyTiff } from '../../apps/worker/renderer/testing/heavy-tiff.ts'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'

// Real processes, several of them: a busy machine takes its time to start them.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

let stack: Stack
afterEach(() => stack?.close())

test('a job cancelled while its image is decoded: the worker loses it, kills the decoder, and goes on with the next', async () => {
  stack = await startStack({ CONCURRENCY: '1', ATTEMPT_MS: '200000', MAX_PIXELS: '1000000000' })
  const api = await stack.start('api')
  await stack.start('reconciler')
  const worker = await stack.start('worker')
  const jobId = await stack.accept(heavyTiff(14), 'image/tiff')
  await until(async () => (await stack.events(jobId)).includes('claimed'))

  const response = await fetch(`http://127.0.0.1:${api.port}/v1/jobs/${jobId}`, { method: 'DELETE' })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ status: 'FAILED', error: { code: 'cancelled' } })
  await worker.logged(({ msg, job_id }) => msg.startsWith('lease lost') && job_id === jobId)

  const next = await stack.accept(heavyTiff(1), 'image/tiff')
  expect(await stack.ended(next)).toMatchObject({ status: 'SUCCEEDED' })
  expect((await stack.events(jobId)).filter((event) => event !== 'published')).toEqual([
    'accepted',
    'claimed',
    'failed',
  ])
  const [abandoned] = worker.lines.filter(({ msg }) => msg === 'rendering process ended')
  expect(abandoned).toMatchObject({ killed_for: 'abandoned' })
})
