import { createHash, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { AcceptedJobBody, JobListBody } from '../../apps/api/schemas/job.ts'
import { openRaw } from '../../apps/api/testing/raw-http.ts'
import { newImage, newKey, problem, type TenantClient, tenantClient } from './tenant-client.ts'

let client: TenantClient
let other: TenantClient
beforeAll(async () => {
  client = await tenantClient()
  other = await tenantClient('otherKey')
})

const keyed = (key: string, more: Record<string, string> = {}) => ({ 'idempotency-key': key, ...more })
const digestOf = (body: Buffer) => `sha-256=:${createHash('sha256').update(body).digest('base64')}:`

describe('an Idempotency-Key', () => {
  test('may be missing', async () => {
    const response = await client.post()
    expect(response.status).toBe(202)
    expect(response.headers.get('idempotent-replayed')).toBeNull()
    expect(await response.json()).not.toHaveProperty('idempotency_expires_at')
  })

  test.each([
    ['empty', ''],
    ['an empty string', '""'],
    ['a string without its end', '"abc'],
    ['with a blank in it', 'a b'],
    ['with a comma in it', 'a,b'],
    ['of 256 characters', 'k'.repeat(256)],
  ])('that is %s is refused with 400', async (_, key) => {
    const response = await client.post(newImage(), keyed(key))
    expect(response.status).toBe(400)
    expect(await problem(response)).toMatchObject({ code: 'idempotency_key_malformed' })
  })

  test('that is sent twice is refused with 400', async () => {
    const { hostname, port } = new URL(client.url)
    const raw = await openRaw(Number(port))
    raw.write(
      `POST /v1/images HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${client.key}\r\nContent-Length: 0\r\n` +
        'Idempotency-Key: a\r\nIdempotency-Key: b\r\nConnection: close\r\n\r\n',
    )
    const { received } = await raw.closed()
    expect(received).toMatch(/^HTTP\/1\.1 400 /)
    expect(received).toContain('idempotency_key_malformed')
  })

  test('of 255 characters is taken, and the quoted and the bare form are one key', async () => {
    const key = randomUUID().padEnd(255, 'x')
    const image = newImage()
    const first = await client.accept(image, keyed(key))
    const again = await client.post(image, keyed(`"${key}"`))
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.json()).toMatchObject({ job_id: first.job_id })
  })

  test('answers the same request with the same Location, whatever became of the job, and no Retry-After once it is done', async () => {
    const [key, image] = [newKey(), newImage()]
    const first = await client.post(image, keyed(key))
    const { job_id, created_at, idempotency_expires_at } = (await first.json()) as AcceptedJobBody
    await client.ended(job_id)
    const again = await client.post(image, keyed(key))
    expect(again.status).toBe(202)
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('retry-after')).toBeNull()
    const job = (await again.json()) as AcceptedJobBody
    expect(job).toMatchObject({ job_id, status: 'SUCCEEDED', done: true, created_at })
    expect(Date.parse(job.idempotency_expires_at!)).toBeGreaterThanOrEqual(
      Date.parse(idempotency_expires_at!),
    )
  })

  test('refuses other bytes, another type and other options with 422, and leaves the first request as it was', async () => {
    const [key, image] = [newKey(), newImage()]
    const { job_id } = await client.accept(image, keyed(key))
    for (const attempt of [
      () => client.post(newImage(), keyed(key)),
      () => client.post(image, keyed(key, { 'content-type': 'image/png' })),
      () => client.post(image, keyed(key), '?expires_in=60'),
    ]) {
      const response = await attempt()
      expect(response.status).toBe(422)
      expect(await problem(response)).toMatchObject({ code: 'idempotency_key_reused', retryable: false })
    }
    expect(await client.accept(image, keyed(key))).toMatchObject({ job_id })
  })

  test('is another key for another tenant', async () => {
    const [key, image] = [newKey(), newImage()]
    const mine = await client.accept(image, keyed(key))
    const response = await other.post(newImage(), keyed(key))
    expect(response.status).toBe(202)
    expect(response.headers.get('idempotent-replayed')).toBeNull()
    expect(((await response.json()) as AcceptedJobBody).job_id).not.toBe(mine.job_id)
  })

  test('answers 409 with Retry-After while its first request is uploading, and is free again when that breaks off', async () => {
    const key = newKey()
    const { hostname, port } = new URL(client.url)
    const raw = await openRaw(Number(port))
    raw.write(
      `POST /v1/images HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${client.key}\r\n` +
        `Idempotency-Key: ${key}\r\nContent-Length: 1000\r\n\r\n`,
    )
    raw.write(newImage().subarray(0, 20))
    const image = newImage()
    // A request that comes before the other has the key is refused for its own sake, and leaves the key free.
    let met: Response
    do met = await client.post(image.subarray(0, 30), keyed(key))
    while (met.status !== 409)
    expect(await problem(met)).toMatchObject({ code: 'upload_in_progress', retryable: true })
    expect(Number(met.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    raw.socket.destroy()
    let free: Response
    // 503: as from a machine that is busy, which is to be asked again with the same key.
    do free = await client.post(image, keyed(key))
    while (free.status === 409 || free.status === 503)
    expect(free.status).toBe(202)
    expect(free.headers.get('idempotent-replayed')).toBeNull()
  })

  test('can be used again after a refusal', async () => {
    const key = newKey()
    expect((await client.post(Buffer.from('no image'), keyed(key))).status).toBe(415)
    const response = await client.post(newImage(), keyed(key))
    expect(response.status).toBe(202)
    expect(response.headers.get('idempotent-replayed')).toBeNull()
  })

  test('finds its job in the list, for its tenant alone', async () => {
    const key = newKey()
    const { job_id } = await client.accept(newImage(), keyed(key))
    const list = async (of: TenantClient) =>
      (await (await of.fetch(`/v1/jobs?idempotency_key=${key}`)).json()) as JobListBody
    expect((await list(client)).jobs.map((job) => job.job_id)).toEqual([job_id])
    expect((await list(other)).jobs).toEqual([])
  })

  test('of a deleted image answers 410, and 422 to another request', async () => {
    const [key, image] = [newKey(), newImage()]
    const { job_id } = await client.accept(image, keyed(key))
    expect((await client.fetch(`/v1/images/${job_id}`, { method: 'DELETE' })).status).toBe(204)
    const again = await client.post(image, keyed(key))
    expect(again.status).toBe(410)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('retry-after')).toBeNull()
    expect((await client.post(newImage(), keyed(key))).status).toBe(422)
  })
})

describe('a Content-Digest', () => {
  test('that is the body’s is taken; one that is not is refused with 422, and nothing is stored', async () => {
    const [key, image] = [newKey(), newImage()]
    const wrong = await client.post(image, keyed(key, { 'content-digest': digestOf(newImage()) }))
    expect(wrong.status).toBe(422)
    expect(await problem(wrong)).toMatchObject({ code: 'content_digest_mismatch' })
    const right = await client.post(image, keyed(key, { 'content-digest': digestOf(image) }))
    expect(right.status).toBe(202)
    expect(right.headers.get('idempotent-replayed')).toBeNull()
  })

  test.each(['sha-256', 'sha-256=abc', 'sha-256=:AAAA:', '!'])(
    'such as %s is refused with 400',
    async (digest) => {
      const response = await client.post(newImage(), { 'content-digest': digest })
      expect(response.status).toBe(400)
      expect(await problem(response)).toMatchObject({ code: 'content_digest_malformed' })
    },
  )

  test('of an algorithm that is not known is passed over', async () => {
    expect((await client.post(newImage(), { 'content-digest': 'sha-512=:AAAA:' })).status).toBe(202)
  })

  test('with Expect: 100-continue and a known key is answered without the body', async () => {
    const [key, image] = [newKey(), newImage()]
    const { job_id } = await client.accept(image, keyed(key, { 'content-type': 'image/png' }))
    const answer = await withoutBody(key, digestOf(image), image.length)
    expect(answer).toMatch(/^HTTP\/1\.1 202 /)
    expect(answer).toContain(`Location: /v1/jobs/${job_id}`)
    expect(answer).toContain('Idempotent-Replayed: true')
    const another = newImage()
    expect(await withoutBody(key, digestOf(another), another.length)).toMatch(/^HTTP\/1\.1 422 /)
  })

  test('with Expect: 100-continue and a new key is asked for the body', async () => {
    const image = newImage()
    const raw = await beginUpload(newKey(), digestOf(image), image.length)
    expect(await raw.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 100 /)
    raw.write(image)
    expect(await raw.until('"job_id"')).toContain('HTTP/1.1 202 ')
    raw.socket.destroy()
  })

  async function beginUpload(key: string, digest: string, bytes: number) {
    const { hostname, port } = new URL(client.url)
    const raw = await openRaw(Number(port))
    raw.write(
      `POST /v1/images HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${client.key}\r\nContent-Type: image/png\r\n` +
        `Idempotency-Key: ${key}\r\nContent-Digest: ${digest}\r\nContent-Length: ${bytes}\r\nExpect: 100-continue\r\n\r\n`,
    )
    return raw
  }

  async function withoutBody(key: string, digest: string, bytes: number): Promise<string> {
    const raw = await beginUpload(key, digest, bytes)
    const answer = await raw.until('}')
    raw.socket.destroy()
    return answer
  }
})
