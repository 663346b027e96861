import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_OPTIONS, type JobOptions } from '../../core/job.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import type { Renderer } from '../../core/ports/renderer.ts'
import { DEFAULT_PRESET, type OutputPlan } from '../../core/preset.ts'
import { testImage } from '../../test/images.ts'
import { COST, FACTS, STILL_JPEG } from '../../test/job-result.ts'
import { openRenderer, type ProcessRenderer } from './renderer/pool.ts'
import { createAttemptBench } from './testing/attempt-bench.ts'

const ORIGINAL = Buffer.from('an original')

const options = (...outputs: Partial<OutputPlan>[]): JobOptions => ({
  ...{ preset: 'own', strict: true },
  plan: {
    ...DEFAULT_PRESET,
    outputs: outputs.map((output) => ({ ...DEFAULT_PRESET.outputs[0]!, ...output })),
  },
})

/** Gives outputs of these names, whatever it is asked. */
function rendererOf(...names: string[]): Renderer & { plans: unknown[] } {
  const plans: unknown[] = []
  return {
    plans,
    engine: 'engine-1',
    async render({ body }, plan) {
      for await (const _ of body);
      plans.push(plan)
      const outputs = names.map((name) => ({
        name,
        ...STILL_JPEG,
        width: 1,
        height: 1,
        body: Buffer.from(name),
      }))
      return { outputs, warnings: [], facts: FACTS, cost: COST }
    },
  }
}

describe('the work on an image', () => {
  it('renders the job’s own plan, and stores each output under its name, engine and format', async () => {
    const renderer = rendererOf('a', 'b')
    const bench = createAttemptBench({ renderer, exposeGps: true })
    const asked = options({ name: 'a' }, { name: 'b' })
    const jobId = await bench.accepted(ORIGINAL, asked)
    const job = await bench.attempt(jobId)
    expect(renderer.plans).toEqual([{ preset: asked.plan, strict: true, exposeGps: true }])
    expect(job).toMatchObject({
      status: 'SUCCEEDED',
      outputs: [
        { name: 'a', key: `outputs/${jobId}/a@engine-1.jpeg`, format: 'jpeg', bytes: 1 },
        { name: 'b', key: `outputs/${jobId}/b@engine-1.jpeg`, format: 'jpeg', bytes: 1 },
      ],
      result: { engine: 'engine-1', facts: FACTS, cost: COST, moderation: null },
    })
    for (const { key, bytes, sha256 } of job.outputs!) {
      expect(bench.objectStore.look(key)).toEqual({ bytes, sha256 })
    }
    // What is kept of an output is what it is, not its bytes.
    expect(job.outputs![0]).not.toHaveProperty('body')
  })

  it.each([
    ['one fewer', ['a']],
    ['one more', ['a', 'b', 'c']],
    ['another', ['a', 'x']],
  ])('stores nothing, and is charged, when the renderer made %s than was asked for', async (_, names) => {
    const bench = createAttemptBench({ renderer: rendererOf(...names) })
    const jobId = await bench.accepted(ORIGINAL, options({ name: 'a' }, { name: 'b' }))
    expect(await bench.attempt(jobId)).toMatchObject({
      ...{ status: 'QUEUED', attempts: 1 },
      lastError: { code: 'internal' },
    })
    expect(bench.objectStore.keys()).toEqual([`originals/${jobId}`])
  })

  it('hands the body to the store as it is, and all outputs at once', async () => {
    const bodies = ['a', 'b', 'c'].map((name) => Buffer.from(name))
    const given: unknown[] = []
    const allAsked = Promise.withResolvers<void>()
    const renderer: Renderer = {
      engine: 'engine-1',
      async render({ body }) {
        for await (const _ of body);
        const outputs = bodies.map((body) => ({ name: `${body}`, ...STILL_JPEG, width: 1, height: 1, body }))
        return { outputs, warnings: [], facts: FACTS, cost: COST }
      },
    }
    const bench = createAttemptBench({ renderer })
    const jobId = await bench.accepted(ORIGINAL, options({ name: 'a' }, { name: 'b' }, { name: 'c' }))
    bench.parts.objectStore = {
      ...bench.objectStore,
      async put({ body }) {
        given.push(body)
        if (given.length === bodies.length) allAsked.resolve()
        await allAsked.promise
      },
    }
    expect(await bench.attempt(jobId)).toMatchObject({ status: 'SUCCEEDED' })
    for (const [index, body] of bodies.entries()) expect(given[index]).toBe(body)
  })
})

describe('the work on an image, with the real renderer', () => {
  const renderers: ProcessRenderer[] = []
  beforeAll(async () => {
    for (let i = 0; i < 2; i++) renderers.push(await openRenderer({ concurrency: 1, limits: DEFAULT_LIMITS }))
  })
  afterAll(() => Promise.all(renderers.map((renderer) => renderer.close())))

  const every = options(
    {
      name: 'auto',
      width: 200,
      height: 100,
      fit: 'cover',
      position: 'attention',
      format: 'auto',
      avif: true,
    },
    { name: 'moving', width: 40, height: 40, animated: true, format: 'auto' },
    ...(['jpeg', 'webp', 'avif', 'png', 'gif', 'basic'] as const).map((format) => ({ name: format, format })),
  )

  it.each(['jpeg-orientation-6', 'avif-alpha', 'gif-animated'] as const)(
    'gives the same keys and the same bytes in every process: %s',
    async (name) => {
      const { bytes } = await testImage(name)
      const made = await Promise.all(
        renderers.map(async (renderer) => {
          const bench = createAttemptBench({ renderer })
          const jobId = await bench.accepted(bytes, { ...every, strict: false })
          return bench.attempt(jobId)
        }),
      )
      const [first, second] = made.map(({ outputs }) => outputs)
      expect(first!.length).toBeGreaterThan(every.plan.outputs.length)
      expect(second).toEqual(first)
      expect(new Set(first!.map(({ key }) => key)).size).toBe(first!.length)
      expect(made[0]!.result?.engine).toBe(made[1]!.result?.engine)
      expect(made[0]!.result?.facts).toEqual(made[1]!.result?.facts)
    },
  )

  it('makes one output of one variant for a request that asks for nothing', async () => {
    const bench = createAttemptBench({ renderer: renderers[0]! })
    const { bytes } = await testImage('jpeg-orientation-1')
    const job = await bench.attempt(await bench.accepted(bytes, DEFAULT_OPTIONS))
    expect(job.outputs).toMatchObject([{ name: 'thumbnail', format: 'jpeg', width: 320, frames: 1 }])
    expect(job.result?.facts).not.toHaveProperty('gps')
  })
})
