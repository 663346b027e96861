import { createHash } from 'node:crypto'
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createS3Client } from '../../../infra/s3/client.ts'
import { startTestAws, type TestAws } from '../../aws.ts'
import { RESULT, STILL_JPEG } from '../../job-result.ts'
import { BUDGET, type JobTable, openJobTable } from '../../races/job-table.ts'
import { audit } from './audit.ts'
import type { CheckedImage, Findings, Upload } from './ledger.ts'

let table: JobTable
let aws: TestAws
let s3: S3Client
let bucket: string

beforeEach(async () => {
  ;[table, aws] = await Promise.all([openJobTable(), startTestAws()])
  s3 = createS3Client(aws.endpointUrl)
  bucket = await aws.createBucket()
})
afterEach(async () => {
  s3.destroy()
  await aws.stop()
  await table.close()
})

const ORIGINAL = Buffer.from('an original')
const OUTPUT = Buffer.from('an output')
const IMAGE: CheckedImage = {
  file: 'image',
  contentType: 'image/png',
  sha256: sha256(ORIGINAL),
  ends: { status: 'SUCCEEDED', codes: [] },
}

test('finds nothing where everything is as it was promised', async () => {
  const uploads = [await done(), await done()]
  expect(await found(uploads)).toEqual({ lost: [], duplicated: [], unexpected: [] })
})

const TAMPERINGS: [what: string, as: keyof Findings, tamper: (upload: Upload) => Promise<unknown>][] = [
  ['a job that is gone', 'lost', ({ jobId }) => run(sql`delete from jobs where job_id = ${jobId}`)],
  ['an original that is gone', 'lost', ({ jobId }) => remove(`originals/${jobId}`)],
  ['an original of other bytes', 'lost', ({ jobId }) => put(`originals/${jobId}`, OUTPUT)],
  ['an output that is gone', 'lost', ({ jobId }) => remove(`outputs/${jobId}/thumbnail@1`)],
  ['an output of other bytes', 'lost', ({ jobId }) => put(`outputs/${jobId}/thumbnail@1`, ORIGINAL)],
  ['an output nobody recorded', 'duplicated', ({ jobId }) => put(`outputs/${jobId}/thumbnail@2`, OUTPUT)],
  [
    'a marker that is gone',
    'lost',
    ({ jobId }) => run(sql`delete from processed_operations where job_id = ${jobId}`),
  ],
  [
    'a second end',
    'duplicated',
    ({ jobId }) =>
      run(sql`insert into job_events (job_id, event, fence, attempts) values (${jobId}, 'succeeded', 1, 1)`),
  ],
  [
    'a claim with an old fence',
    'unexpected',
    ({ jobId }) =>
      run(sql`insert into job_events (job_id, event, fence, attempts) values (${jobId}, 'claimed', 1, 1)`),
  ],
  ['a job of nobody', 'duplicated', () => table.accept()],
  [
    'a job that does not end',
    'lost',
    async (upload) => {
      upload.jobId = (await done({ ends: false })).jobId
    },
  ],
  [
    'a failure that the image does not deserve',
    'unexpected',
    ({ jobId }) =>
      run(
        sql`update jobs set status = 'FAILED', outputs = null, error_code = 'expired' where job_id = ${jobId}`,
      ),
  ],
  [
    'a dead letter',
    'unexpected',
    ({ jobId }) =>
      run(
        sql`insert into dead_letters (job_id, reason, receive_count, verdict) values (${jobId}, '', 1, 'failed')`,
      ),
  ],
  ['an outbox row', 'unexpected', ({ jobId }) => run(sql`insert into outbox (job_id) values (${jobId})`)],
]

test.each(TAMPERINGS)('finds %s: %s', async (_, as, tamper) => {
  const upload = await done()
  await tamper(upload)
  const findings = await found([upload])
  expect(findings[as].length).toBeGreaterThan(0)
})

/** An upload whose job is done, as the service leaves it. */
async function done({ ends = true } = {}): Promise<Upload> {
  const key = crypto.randomUUID()
  const reservation = { tenant: 'default', key, token: key }
  await table.jobs.reserve({ ...reservation, leaseMs: 20_000 })
  const jobId = await table.accept({ idempotency: { key, token: key, fingerprint: key } })
  await put(`originals/${jobId}`, ORIGINAL)
  const [row] = await table.jobs.claimOutbox({ token: key, max: 1, leaseMs: 20_000 })
  await table.jobs.confirmPublished({ token: key, rowIds: [row!.rowId] })
  if (!ends) return { key, image: IMAGE, jobId, status: 'QUEUED' }
  const claim = await table.jobs.claim({ jobId, owner: 'worker', leaseMs: 20_000, budget: BUDGET })
  if (claim.kind !== 'claimed') throw new Error(claim.kind)
  const output = {
    ...{ name: 'thumbnail', key: `outputs/${jobId}/thumbnail@1`, ...STILL_JPEG },
    ...{ bytes: OUTPUT.length, sha256: sha256(OUTPUT), width: 1, height: 1 },
  }
  await put(output.key, OUTPUT)
  await table.jobs.end({
    jobId,
    by: { kind: 'holder', fence: claim.fence },
    end: { status: 'SUCCEEDED', outputs: [output], warnings: [], result: RESULT },
  })
  return { key, image: IMAGE, jobId, status: 'SUCCEEDED' }
}

async function found(uploads: Upload[]): Promise<Findings> {
  const findings: Findings = { lost: [], duplicated: [], unexpected: [] }
  await audit({ databaseUrl: table.url, s3Url: aws.endpointUrl, bucket, patienceMs: 0 }, uploads, findings)
  return findings
}

const run = (statement: ReturnType<typeof sql>) => statement.execute(table.db)

const put = (Key: string, Body: Uint8Array) => s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body }))

const remove = (Key: string) => s3.send(new DeleteObjectCommand({ Bucket: bucket, Key }))

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
