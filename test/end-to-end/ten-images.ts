import sharp from 'sharp'
import { expect } from 'vitest'
import type { Client } from '../../client/index.ts'
import { type TestImageName, testImage } from '../images.ts'

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

export const TEN = GOOD.length + BROKEN.length

/** Ten images at once, three of them broken: each job ends, each thumbnail decodes with the right size. */
export async function sendTenImages(client: Client): Promise<void> {
  const images = await Promise.all([...GOOD, ...BROKEN].map(testImage))
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
}
