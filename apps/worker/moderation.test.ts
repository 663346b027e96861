import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import type { Moderator } from '../../core/ports/moderator.ts'
import type { Renderer } from '../../core/ports/renderer.ts'
import { DEFAULT_PRESET } from '../../core/preset.ts'
import { createHttpModerator } from '../../infra/http-moderator.ts'
import { COST, FACTS, STILL_JPEG } from '../../test/job-result.ts'
import { type StubServer, startStubServer } from '../../test/stub-server.ts'
import { createProbe } from './probe.ts'
import { createAttemptBench } from './testing/attempt-bench.ts'

const ORIGINAL = Buffer.from('an original')
const [OUTPUT] = DEFAULT_PRESET.outputs
const TWO_OUTPUTS = {
  ...DEFAULT_OPTIONS,
  plan: {
    ...DEFAULT_PRESET,
    outputs: [
      { ...OUTPUT!, name: 'card', format: 'auto' as const },
      { ...OUTPUT!, name: 'zoom', format: 'jpeg' as const },
    ],
  },
}

/** Gives an `auto` output as WebP and JPEG; a body says which output of what format it is. */
const renderer: Renderer = {
  engine: 'engine-1',
  async render({ body }, { preset }) {
    for await (const _ of body);
    const outputs = preset.outputs.flatMap(({ name, format }) =>
      (format === 'auto' ? (['webp', 'jpeg'] as const) : (['jpeg'] as const)).map((stored) => ({
        ...STILL_JPEG,
        ...{ name, format: stored, contentType: `image/${stored}`, width: 1, height: 1 },
        body: Buffer.from(`${name} as ${stored}`),
      })),
    )
    return { outputs, warnings: [], facts: FACTS, cost: COST }
  },
}

let server: StubServer
afterEach(() => server.stop())

async function bench(
  answer: (request: IncomingMessage, response: ServerResponse) => void = () => {},
  timeoutMs = 10_000,
) {
  server = await startStubServer(answer)
  const moderator = createHttpModerator(server.url)
  return createAttemptBench({ renderer, moderation: { moderator, timeoutMs } })
}

const says = (status: number, body = '') =>
  bench((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(body))
  })

describe('an attempt with a moderator', () => {
  it('shows it the first output, most readable variant, under the job’s id, before anything is stored', async () => {
    const asked: unknown[] = []
    const made = await bench(async (request, response) => {
      const body = (await request.toArray()).join('')
      const outputs = made.objectStore.keys().filter((key) => key.startsWith('outputs/'))
      asked.push({
        id: request.headers['idempotency-key'],
        type: request.headers['content-type'],
        body,
        outputs,
      })
      response.end('{"verdict":"approved","labels":["cat"]}')
    })
    const jobId = await made.accepted(ORIGINAL, TWO_OUTPUTS)
    const job = await made.attempt(jobId)
    expect(asked).toEqual([{ id: jobId, type: 'image/jpeg', body: 'card as jpeg', outputs: [] }])
    expect(job).toMatchObject({
      status: 'SUCCEEDED',
      result: {
        engine: 'engine-1',
        facts: FACTS,
        cost: COST,
        moderation: { verdict: 'approved', labels: ['cat'] },
      },
      outputs: [
        { name: 'card', format: 'webp' },
        { name: 'card', format: 'jpeg' },
        { name: 'zoom', format: 'jpeg' },
      ],
    })
  })

  it('stores nothing of what is rejected, and ends the job with the verdict', async () => {
    const made = await says(200, '{"verdict":"rejected","labels":["x"]}')
    const job = await made.attempt(await made.accepted(ORIGINAL))
    expect(job).toMatchObject({
      status: 'SUCCEEDED',
      outputs: [],
      result: { moderation: { verdict: 'rejected', labels: ['x'] } },
    })
    expect(made.objectStore.keys().filter((key) => key.startsWith('outputs/'))).toEqual([])
    expect(made.messages).toEqual(['deleted'])
  })

  it.each([500, 503, 429, 401])(
    'is given back, charged to nobody, when it answers %i, and shuts the gate',
    async (status) => {
      const made = await says(status)
      const job = await made.attempt(await made.accepted(ORIGINAL))
      expect(job).toMatchObject({
        ...{ status: 'QUEUED', attempts: 0, outputs: null, result: null },
        lastError: { code: 'dependency_unavailable', message: `the moderator answered ${status}` },
      })
      expect(made.shut).toEqual(['moderation'])
      expect(made.messages).toEqual([expect.stringMatching(/^hidden for \d+ s$/)])
    },
  )

  it('is given back when no verdict came in time', async () => {
    const made = await bench(() => {}, 50)
    const job = await made.attempt(await made.accepted(ORIGINAL))
    expect(job).toMatchObject({
      ...{ status: 'QUEUED', attempts: 0 },
      lastError: { code: 'dependency_unavailable', message: 'the moderator gave no answer within 50 ms' },
    })
    expect(made.shut).toEqual(['moderation'])
    await expect.poll(() => server.open()).toBe(0)
  })

  it('is charged, and nobody else waits for it, when the moderator cannot judge its picture', async () => {
    const made = await says(422)
    const job = await made.attempt(await made.accepted(ORIGINAL))
    expect(job).toMatchObject({ status: 'QUEUED', attempts: 1, lastError: { code: 'moderation_failed' } })
    expect(made.shut).toEqual([])
  })

  it('asks again, under the same id and with the same bytes, after an outage', async () => {
    const asked: string[] = []
    const made = await bench(async (request, response) => {
      const body = (await request.toArray()).join('')
      asked.push(`${request.headers['idempotency-key']}: ${body}`)
      if (asked.length === 1) response.writeHead(503).end()
      else response.end('{"verdict":"approved"}')
    })
    const jobId = await made.accepted(ORIGINAL)
    const { claimableInMs } = await made.attempt(jobId)
    expect(claimableInMs).toBeLessThanOrEqual(2_000)
    await expect.poll(async () => (await made.jobs.find(jobId))?.claimableInMs, { timeout: 5_000 }).toBe(0)
    expect(await made.attempt(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
    expect(asked).toEqual([`${jobId}: thumbnail as jpeg`, `${jobId}: thumbnail as jpeg`])
  })
})

it('the probe of the moderation asks the moderator alone, and passes where there is none', async () => {
  const asked: string[] = []
  const { parts, jobs, objectStore } = await bench((request, response) => {
    asked.push(String(request.headers['idempotency-key']))
    const down = asked.length === 1
    request.resume().on('end', () => response.writeHead(down ? 503 : 200).end('{"verdict":"approved"}'))
  })
  const { clock, timing } = parts
  const probe = (moderator: Moderator | null) =>
    createProbe({ jobs, objectStore, queue: null as never, moderator, clock, timing })('moderation')
  await expect(probe(parts.moderation!.moderator)).rejects.toMatchObject({ dependency: 'moderation' })
  await probe(parts.moderation!.moderator)
  await probe(null)
  expect(asked).toEqual(['probe', 'probe'])
})
