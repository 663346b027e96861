// How much memory parallel uploads cost the API: `node test/benchmarks/upload-memory.ts`, its objects in files, or with
// the argument `s3` in S3 (in this process unless AWS_ENDPOINT_URL names another, which then needs 1 GB for what it
// keeps). Linux only, for it reads /proc. Starts a Postgres and the API as processes of their own and leaves nothing
// behind. Ends with 1 when the growth is above the limit.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { startApiProcess } from '../../apps/api/testing/api-process.ts'
import { makePng } from '../../apps/api/testing/png.ts'
import { migrateToLatest } from '../../db/migrate.ts'
import { startPostgres } from '../../infra/embedded/postgres.ts'
import { startTestAws } from '../aws.ts'

const UPLOADS = 20
const BYTES = 50_000_000
const LIMIT_BYTES = 150_000_000
const SAMPLE_MS = 20

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

/** Sends the image in small pieces, as a network brings them; gives the answer's status. */
function upload(url: string, image: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'image/png', 'Content-Length': image.length }
    const sending = request(`${url}/v1/images`, { method: 'POST', headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    sending.on('error', reject)
    Readable.from(pieces(image)).pipe(sending)
  })
}

function* pieces(image: Buffer): Generator<Buffer> {
  for (let at = 0; at < image.length; at += 65_536) yield image.subarray(at, at + 65_536)
}

const dataDir = await mkdtemp(path.join(tmpdir(), 'img42-upload-memory-'))
const postgres = await startPostgres({
  dataDir: path.join(dataDir, 'db'),
  log: console.log,
  settings: { fsync: 'off' },
  throwAway: true,
})
const aws = process.argv.includes('s3') ? await startTestAws() : null
try {
  await migrateToLatest(postgres.url)
  const env: Record<string, string> = aws
    ? { AWS_ENDPOINT_URL: aws.endpointUrl, S3_BUCKET: await aws.createBucket() }
    : {}
  const api = await startApiProcess(postgres.url, { dataDir, env })
  try {
    const { pid } = api.child
    // What a process needs once, whatever it does later, is not the uploads'.
    for (let i = 0; i < 5; i++) await upload(api.url, makePng({ padding: 100_000 }))
    const image = makePng({ padding: BYTES })
    const before = residentBytes(pid!)
    let peak = before
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentBytes(pid!))
    }, SAMPLE_MS)
    const startedAt = performance.now()
    const statuses = await Promise.all(Array.from({ length: UPLOADS }, () => upload(api.url, image)))
    const seconds = (performance.now() - startedAt) / 1_000
    clearInterval(sampling)
    const accepted = statuses.filter((status) => status === 202).length
    console.log(
      `${UPLOADS} parallel uploads of ${megabytes(image.length)} into ${aws ? 'S3' : 'files'}: ${accepted} accepted in ${seconds.toFixed(1)} s, ` +
        `resident memory ${megabytes(before)} before, ${megabytes(peak)} at most: ${megabytes(peak - before)} more ` +
        `(limit ${megabytes(LIMIT_BYTES)})`,
    )
    if (accepted < UPLOADS || peak - before > LIMIT_BYTES) process.exitCode = 1
  } finally {
    await api.stop()
  }
} finally {
  await aws?.stop()
  await postgres.stop()
  await rm(dataDir, { recursive: true, force: true })
}
