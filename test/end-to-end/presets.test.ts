import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testImage } from '../images.ts'
import { type StubServer, startStubServer } from '../stub-server.ts'
import { type Stack, startStack, until } from './stack.ts'

const PRESETS = {
  presets: {
    product: {
      outputs: [
        { name: 'card', width: 120, height: 120, fit: 'cover', avif: true },
        { name: 'tile', width: 200, height: 100, fit: 'contain', background: '#0000ff', format: 'png' },
      ],
    },
  },
}

let stack: Stack
let moderator: StubServer
let folder: string
let apiUrl: string
/** How the moderator answers; the keys under which it was asked. */
let answer: { status: number; body: string }
const askedFor: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'img42-presets-'))
  const file = path.join(folder, 'presets.json')
  await writeFile(file, JSON.stringify(PRESETS))
  moderator = await startStubServer((request, response) => {
    const key = String(request.headers['idempotency-key'])
    if (key !== 'probe') askedFor.push(key)
    request.resume().on('end', () => response.writeHead(answer.status).end(answer.body))
  })
  stack = await startStack()
  const [api] = await Promise.all([
    stack.start('api', { PRESETS: file }),
    stack.start('worker', { MODERATION_URL: moderator.url, MODERATION_TIMEOUT_MS: '5000' }),
    stack.start('reconciler'),
  ])
  apiUrl = `http://127.0.0.1:${api.port}`
})
afterAll(async () => {
  await stack?.close()
  await moderator?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function accept(bytes: Buffer): Promise<string> {
  const response = await fetch(`${apiUrl}/v1/images?preset=product`, {
    method: 'POST',
    body: new Uint8Array(bytes),
  })
  expect(response.status).toBe(202)
  return ((await response.json()) as { job_id: string }).job_id
}

test('a moderator’s outage charges nobody, and when it is over the preset’s outputs are there, each client with its variant', async () => {
  answer = { status: 503, body: '' }
  const { bytes } = await testImage('jpeg-orientation-6')
  const jobId = await accept(bytes)
  const waiting = await until(async () => {
    const job = await stack.job(jobId)
    return job.last_error && job
  })
  expect(waiting).toMatchObject({
    ...{ status: 'QUEUED', attempts: 0 },
    last_error: { code: 'dependency_unavailable', message: 'the moderator answered 503' },
  })

  answer = { status: 200, body: '{"verdict":"approved","labels":["landscape"]}' }
  expect(await stack.ended(jobId)).toMatchObject({
    ...{ status: 'SUCCEEDED', attempts: 1, preset: 'product', result: `/v1/images/${jobId}/card` },
    moderation: { verdict: 'approved', labels: ['landscape'] },
    facts: { content_type: 'image/jpeg' },
  })
  expect(new Set(askedFor)).toEqual(new Set([jobId]))
  for (const [name, accepts, format, width, height] of [
    ['card', 'image/avif,image/webp,*/*;q=0.8', 'heif', 120, 120],
    ['card', 'image/webp,*/*;q=0.8', 'webp', 120, 120],
    ['card', '*/*', 'jpeg', 120, 120],
    ['tile', 'image/webp', 'png', 200, 100],
  ] as const) {
    const response = await fetch(`${apiUrl}/v1/images/${jobId}/${name}`, { headers: { Accept: accepts } })
    expect(response.status).toBe(200)
    expect(response.headers.get('vary')).toBe(name === 'card' ? 'Accept' : null)
    const picture = await sharp(await response.arrayBuffer()).metadata()
    expect({ format: picture.format, width: picture.width, height: picture.height }, accepts).toEqual({
      ...{ format, width, height },
    })
  }
})

test('a picture that the moderator rejects ends SUCCEEDED, and shows nothing', async () => {
  answer = { status: 200, body: '{"verdict":"rejected","labels":["x"]}' }
  const jobId = await accept((await testImage('png-alpha')).bytes)
  expect(await stack.ended(jobId)).toMatchObject({
    ...{ status: 'SUCCEEDED', outputs: [] },
    moderation: { verdict: 'rejected', labels: ['x'] },
  })
  expect((await stack.get(`/v1/images/${jobId}/card`)).status).toBe(403)
})
