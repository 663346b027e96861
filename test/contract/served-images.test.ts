import { beforeAll, describe, expect, test } from 'vitest'
import { makePng } from '../../apps/api/testing/png.ts'
import { type ContractService, contractService } from './service.ts'

/** An image to those who look at its beginning, a page to those who look at its end. */
const POLYGLOT = Buffer.concat([
  makePng({ width: 64, height: 64 }),
  Buffer.from('<!doctype html><script>alert(document.domain)</script>'),
])

let service: ContractService
let jobId: string
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.url + path, { headers: { authorization: `Bearer ${service.key}`, ...headers } })

beforeAll(async () => {
  service = await contractService()
  const response = await fetch(`${service.url}/v1/images`, {
    method: 'POST',
    body: POLYGLOT,
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'image/png' },
  })
  expect(response.status).toBe(202)
  jobId = ((await response.json()) as { job_id: string }).job_id
  let job: { done: boolean; status: string }
  do {
    job = (await (await get(`/v1/jobs/${jobId}`, { prefer: 'wait=20' })).json()) as typeof job
  } while (!job.done)
  expect(job.status).toBe('SUCCEEDED')
})

describe('a served image', () => {
  test.each(['original', 'thumbnail'])(
    '(%s) has a fixed type, is not sniffed, and runs nothing',
    async (output) => {
      const response = await get(`/v1/images/${jobId}/${output}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^image\/(png|jpeg|webp|avif|gif)$/)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
      const bytes = Buffer.from(await response.arrayBuffer())
      // The original is what was sent, to the last byte, and therefore never shown in place.
      if (output === 'original') {
        expect(bytes.equals(POLYGLOT)).toBe(true)
        expect(response.headers.get('content-disposition')).toMatch(
          /^attachment; filename="img_[0-9a-z]+\.png"$/,
        )
      } else {
        expect(bytes.includes('script')).toBe(false)
      }
    },
  )
})
