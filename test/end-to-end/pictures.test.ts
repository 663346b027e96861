import { afterAll, beforeAll, expect, test } from 'vitest'
import { sharedImages } from '../images.ts'
import { type Stack, startStack } from './stack.ts'
import { sendTenImages, TEN } from './ten-images.ts'

let stack: Stack

beforeAll(async () => {
  stack = await startStack()
  await Promise.all([stack.start('api'), stack.start('worker'), stack.start('reconciler')])
})
afterAll(() => stack?.close())

test('ten images, three of them broken, go through SQS, S3 and Postgres: each job ends, each thumbnail decodes with the right size', async () => {
  await sendTenImages(stack.client())
})

test('without faults a job is claimed once, published once and received once, and no sweep acts', async () => {
  const rows = await stack.query<{ job_id: string; events: string[] }>(
    'select job_id, array_agg(event order by event_id) as events from job_events group by job_id',
  )
  expect(rows.length).toBeGreaterThanOrEqual(TEN)
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
