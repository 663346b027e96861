import { randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AppName } from '../end-to-end/app-process.ts'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'
import { type TestImage, type TestImageName, testImage } from '../images.ts'
import { PREVIOUS_RELEASE, unpackPreviousRelease } from './previous-release.ts'

// The previous release's apps beside this version's, on this version's schema.

const previous = unpackPreviousRelease()
const missing = 'missing' in previous ? previous.missing : null
if (missing) console.log(`LEFT OUT: the previous release ${PREVIOUS_RELEASE} cannot be had here: ${missing}`)
const old = 'folder' in previous ? previous.folder : ''
afterAll(() => 'remove' in previous && previous.remove())

const NAMES: TestImageName[] = [
  ...(['jpeg-orientation-6', 'png-alpha', 'webp-lossy', 'gif-still', 'tiff-lzw', 'avif-plain'] as const),
  ...(['jpeg-truncated', 'png-data-damaged'] as const),
]

let stack: Stack
beforeEach(async () => {
  stack = await startStack()
})
afterEach(() => stack.close())

const upload = async (port: number, { bytes, contentType }: TestImage, key: string): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/images`, {
    method: 'POST',
    headers: { 'content-type': contentType, 'idempotency-key': key },
    body: new Uint8Array(bytes),
  })
  const { job_id } = (await response.json()) as { job_id: string }
  expect(response.status).toBe(202)
  return job_id
}

/** Sends images to each of the APIs, and holds what became of them against what is right, through each of the APIs. */
async function sendAndCheck(ports: number[], rounds = 1): Promise<void> {
  const images = await Promise.all(Array(rounds).fill(NAMES).flat().map(testImage))
  const sent = await Promise.all(
    images.map(async (image, i) => {
      const key = randomUUID()
      const jobId = await upload(ports[i % ports.length]!, image, key)
      // The same request to the other version is the same request.
      expect(await upload(ports[(i + 1) % ports.length]!, image, key)).toBe(jobId)
      return { image, jobId }
    }),
  )
  for (const { image, jobId } of sent) {
    for (const port of ports) await check(`http://127.0.0.1:${port}`, image, jobId)
  }
  const once = await stack.query<{ job_id: string; ends: string; marks: string }>(
    `select job_id, (select count(*) from job_events e where e.job_id = j.job_id and event in ('succeeded', 'failed')) as ends,
      (select count(*) from processed_operations p where p.job_id = j.job_id) as marks from jobs j`,
  )
  expect(once).toHaveLength(sent.length)
  expect(once.filter(({ ends, marks }) => ends !== '1' || marks !== '1')).toEqual([])
}

async function check(api: string, { name, expect: expected }: TestImage, jobId: string): Promise<void> {
  const job = await until(async () => {
    const response = await fetch(`${api}/v1/jobs/${jobId}`)
    const body = (await response.json()) as { status: string; error?: { code: string } }
    return ['SUCCEEDED', 'FAILED'].includes(body.status) ? body : null
  })
  if (expected.outcome !== 'thumbnail') return expect(job.status, name).toBe('FAILED')
  expect(job, name).toMatchObject({ status: 'SUCCEEDED' })
  const thumbnail = await fetch(`${api}/v1/images/${jobId}/thumbnail`)
  expect(thumbnail.status, name).toBe(200)
  const { width, height } = await sharp(Buffer.from(await thumbnail.arrayBuffer())).metadata()
  expect({ width, height }, name).toEqual(expected.thumbnail)
}

describe.skipIf(missing !== null)('beside the previous release', () => {
  const olds = (app: AppName, which: AppName) => (app === which ? old : undefined)

  test.each<AppName>(['worker', 'api', 'reconciler'])(
    'its %s does its part among this version’s apps',
    async (which) => {
      const [api] = await Promise.all(
        (['api', 'worker', 'reconciler'] as const).map((app) => stack.start(app, {}, olds(app, which))),
      )
      await sendAndCheck([api!.port])
    },
  )

  test('all of its apps work beside all of this version’s, and each answers for what the other did', async () => {
    const apps = ['api', 'worker', 'reconciler'] as const
    const [older, newer] = await Promise.all(
      [old, undefined].map((root) => Promise.all(apps.map((app) => stack.start(app, {}, root)))),
    )
    await sendAndCheck([older![0]!.port, newer![0]!.port], 5)
  })
})

test('a message of a version that is unknown here is recorded with its reason, and harms no other', async () => {
  const [api] = await Promise.all((['api', 'worker', 'reconciler'] as const).map((app) => stack.start(app)))
  const body = JSON.stringify({ job_id: 'img_later', object_key: 'originals/later', schema_version: 99 })
  await stack.send(stack.queues.jobsUrl, { body, attributes: {} })
  const [letter] = await until(async () => {
    const rows = await stack.query<{ body: string; reason: string; verdict: string }>(
      'select body, reason, verdict from dead_letters',
    )
    return rows.length > 0 && rows
  })
  expect(letter).toEqual({ body, reason: 'schema_version 99 is unknown here', verdict: 'unreadable' })
  await sendAndCheck([api!.port])
})
