import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sharedImages, type TestImageName, testImage } from '../images.ts'
import { type Stack, startStack } from './stack.ts'

let stack: Stack

beforeAll(async () => {
  stack = await startStack()
  await Promise.all([stack.start('api'), stack.start('worker'), stack.start('reconciler')])
})
afterAll(() => stack?.close())

const GOOD: TestImageName[] = [
  'jpeg-orientation-6',
  'jpeg-cmyk',
  'png-alpha',
  'gif-animated',
  'webp-lossy',
  'avif-plain',
  'tiff-lzw',
]
const BROKEN: TestImageName[] = ['jpeg-truncated', 'png-data-damaged', 'tiff-truncated']

test('ten images, three of them broken, go through SQS, S3 and Postgres: each job ends, each thumbnail decodes with the right size', async () => {
  const images = await Promise.all([...GOOD, ...BROKEN].map(testImage))
  const client = stack.client()
  const accepted = await Promise.all(
    images.map(({ bytes, contentType }) => client.upload(new Uint8Array(bytes), { contentType })),
  )

  for (const [i, { job_id: jobId }] of accepted.entries()) {
    const { name, expect: expected } = images[i]!
    const job = await client.waitFor(jobId)
    if (expected.outcome === 'thumbnail') {
      expect.soft(job, name).toMatchObject({ status: 'SUCCEEDED', result: `/v1/images/${jobId}/thumbnail` })
      const thumbnail = await client.downloadThumbnail(jobId)
      const { width, height, orientation } = await sharp(await thumbnail.arrayBuffer()).metadata()
      expect
        .soft({ width, height, orientation }, name)
        .toEqual({ ...expected.thumbnail, orientation: undefined })
    } else {
      expect.soft(job.status, name).toBe('FAILED')
      expect.soft(expected.outcome === 'job_fails' && expected.codes, name).toContain(job.error?.code)
    }
  }
})

test('without faults a job is claimed once, published once and received once, and no sweep acts', async () => {
  const rows = await stack.query<{ job_id: string; events: string[] }>(
    'select job_id, array_agg(event order by event_id) as events from job_events group by job_id',
  )
  expect(rows.length).toBeGreaterThanOrEqual(GOOD.length + BROKEN.length)
  for (const { events } of rows) {
    // The confirmation of the publication may be recorded after the claim.
    const end = events.includes('failed') ? 'failed' : 'succeeded'
    expect([...events].sort()).toEqual(['accepted', 'claimed', 'published', end].sort())
  }
})

test('photographs of others become thumbnails as well', async ({ skip }) => {
  const wanted = ['Landscape_6.jpg', 'kimono.avif', 'rotating-squares.webp', 'G31D_MULTI.TIF', 'cymk.jpg']
  const present = sharedImages().images.filter(({ name }) => wanted.includes(name))
  if (present.length === 0) skip(`all ${wanted.length} of the shared images are absent`)
  console.log(`${present.length} shared images present, ${wanted.length - present.length} absent`)
  for (const image of present) {
    const job = await stack.ended(await stack.accept(image.read(), 'application/octet-stream'))
    expect.soft(job.status, image.name).toBe('SUCCEEDED')
  }
})
