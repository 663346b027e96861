import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import pg from 'pg'
import type { CheckerOrder, Findings, Upload } from './ledger.ts'

interface JobRow {
  job_id: string
  status: string
  error_code: string | null
  outputs: { name: string; key: string; bytes: number; sha256: string }[] | null
  markers: number
  ends: number
  claim_fences: number[]
  recorded_key: string | null
}

/** Holds what the clients were told against the tables and the object store, once everything should be done. */
export async function audit(
  order: Pick<CheckerOrder, 'databaseUrl' | 's3Url' | 'bucket'> & { patienceMs: number },
  uploads: readonly Upload[],
  findings: Findings,
): Promise<void> {
  const database = new pg.Client({ connectionString: order.databaseUrl, query_timeout: 60_000 })
  const s3 = new S3Client({ endpoint: order.s3Url, forcePathStyle: true, region: 'us-east-1' })
  await database.connect()
  try {
    const rows = new Map((await readJobs(database)).map((row) => [row.job_id, row]))
    const objects = await listObjects(s3, order.bucket)
    for (const upload of uploads) {
      if (upload.jobId === null) continue
      const row = rows.get(upload.jobId)
      rows.delete(upload.jobId)
      if (!row) {
        findings.lost.push(`${upload.jobId} was accepted and has no row`)
        continue
      }
      checkRow(row, upload, findings)
      await checkObjects(row, upload, objects, (key) => readObject(s3, order.bucket, key), findings)
    }
    for (const jobId of rows.keys()) {
      findings.duplicated.push(`${jobId} is a job that no client was told of`)
    }
    await checkLeftovers(database, order.patienceMs, findings)
  } finally {
    await database.end()
    s3.destroy()
  }
}

async function readJobs(database: pg.Client): Promise<JobRow[]> {
  const { rows } = await database.query<JobRow>(`
    select job_id, status, error_code, outputs,
      (select count(*) from processed_operations where processed_operations.job_id = jobs.job_id)::int as markers,
      (select count(*) from job_events where job_events.job_id = jobs.job_id
        and event in ('succeeded', 'failed'))::int as ends,
      (select coalesce(json_agg(fence order by event_id), '[]') from job_events
        where job_events.job_id = jobs.job_id and event = 'claimed') as claim_fences,
      (select key from idempotency_records where idempotency_records.job_id = jobs.job_id) as recorded_key
    from jobs`)
  return rows
}

function checkRow(row: JobRow, { key, image }: Upload, { lost, duplicated, unexpected }: Findings): void {
  const { job_id, status, error_code, markers, ends, claim_fences, recorded_key } = row
  if (status !== 'SUCCEEDED' && status !== 'FAILED') {
    lost.push(`${job_id} is ${status} and did not end`)
    return
  }
  const asItShould =
    status === image.ends.status && (status === 'SUCCEEDED' || image.ends.codes.includes(error_code ?? ''))
  if (!asItShould) unexpected.push(`${job_id} of ${image.file} is ${status} ${error_code ?? ''}`)
  if (markers === 0 || ends === 0) lost.push(`${job_id} is ${status} with ${markers} markers, ${ends} ends`)
  if (markers > 1 || ends > 1) duplicated.push(`${job_id} has ${markers} markers and ${ends} ends`)
  if (claim_fences.some((fence, i) => i > 0 && fence <= claim_fences[i - 1]!)) {
    unexpected.push(`${job_id} was claimed with fences that do not rise: ${claim_fences}`)
  }
  if (recorded_key !== key)
    unexpected.push(`${job_id} was sent with key ${key} and is recorded as ${recorded_key}`)
}

async function checkObjects(
  { job_id, outputs }: JobRow,
  { image }: Upload,
  objects: ReadonlySet<string>,
  read: (key: string) => Promise<Buffer | null>,
  { lost, duplicated }: Findings,
): Promise<void> {
  const original = await read(`originals/${job_id}`)
  if (!original || sha256(original) !== image.sha256) {
    lost.push(`the original of ${job_id} is ${original ? 'other bytes' : 'gone'}`)
  }
  if (!outputs) return
  if (outputs.length === 0) lost.push(`${job_id} succeeded without an output`)
  for (const output of outputs) {
    const body = await read(output.key)
    if (!body || body.length !== output.bytes || sha256(body) !== output.sha256) {
      lost.push(`${output.name} of ${job_id} is ${body ? 'other bytes' : 'gone'}`)
    }
  }
  const stored = [...objects].filter((key) => key.startsWith(`outputs/${job_id}/`))
  if (stored.length > outputs.length) {
    duplicated.push(`${job_id} recorded ${outputs.length} outputs and left ${stored.length}`)
  }
}

async function checkLeftovers(
  database: pg.Client,
  patienceMs: number,
  { unexpected }: Findings,
): Promise<void> {
  const outbox = await untilEmpty(patienceMs, async () => {
    const { rows } = await database.query<{ job_id: string }>('select job_id from outbox')
    return rows
  })
  for (const { job_id } of outbox) unexpected.push(`${job_id} is still in the outbox`)
  // A job that had ended by then, or was published again, lost nothing by its dead letter.
  const { rows: letters } = await database.query<{ job_id: string; verdict: string; reason: string }>(
    `select job_id, verdict, reason from dead_letters where verdict not in ('false_quarantine', 'republished')`,
  )
  for (const { job_id, verdict, reason } of letters)
    unexpected.push(`dead letter of ${job_id}: ${verdict}, ${reason}`)
}

/** What is left of it after a while: the relay may be at its last row yet. */
async function untilEmpty<T>(patienceMs: number, ask: () => Promise<T[]>): Promise<T[]> {
  const until = performance.now() + patienceMs
  while (true) {
    const left = await ask()
    if (left.length === 0 || performance.now() >= until) return left
    await delay(200)
  }
}

async function listObjects(s3: S3Client, bucket: string): Promise<Set<string>> {
  const keys = new Set<string>()
  let after: string | undefined
  do {
    const page = await s3.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: 'outputs/',
        ...(after !== undefined && { StartAfter: after }),
      }),
    )
    for (const { Key } of page.Contents ?? []) keys.add(Key!)
    after = page.Contents?.at(-1)?.Key
  } while (after !== undefined)
  return keys
}

async function readObject(s3: S3Client, bucket: string, key: string): Promise<Buffer | null> {
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
    return Buffer.from(await Body!.transformToByteArray())
  } catch (error) {
    if ((error as Error).name === 'NoSuchKey') return null
    throw error
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
