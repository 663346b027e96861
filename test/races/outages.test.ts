import { createHash } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { createS3Client } from '../../infra/s3/client.ts'
import { startTcpProxy, type TcpProxy } from '../chaos/tcp-proxy.ts'
import { unavailable } from '../end-to-end/interceptor.ts'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'
import { acceptJob } from './job-table.ts'

// Real processes, several of them: a busy machine takes its time to start them.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

const JOBS = 200
/** Longer than grace, re-publish age and five attempts with their longest pauses: as an hour is to the defaults. */
const OUTAGE_MS = 12_000

let stack: Stack
let proxy: TcpProxy

beforeEach(async () => {
  stack = await startStack()
  proxy = await startTcpProxy(Number(new URL(stack.databaseUrl).port))
})
afterEach(async () => {
  await stack?.close()
  await proxy?.close()
})

test('an hour (scaled) without Postgres and an hour without S3 with 200 jobs waiting: none fails, none is dead-lettered, all are done afterwards', async () => {
  await acceptJobs()
  const through = new URL(stack.databaseUrl)
  through.port = String(proxy.port)
  const env = { DATABASE_URL: through.href }
  await Promise.all([stack.start('reconciler', env), stack.start('worker', env)])
  await until(async () => (await ended()) > 0)

  // First as a partition, where nothing answers, then as a server that is gone.
  proxy.silence()
  await lasts(OUTAGE_MS / 2)
  proxy.refuse()
  await lasts(OUTAGE_MS / 2)
  const before = await ended()
  proxy.heal()
  await until(async () => (await ended()) > before)

  const recover = stack.aws.on(/^S3 /, async () => unavailable())
  await lasts(OUTAGE_MS)
  expect(await ended()).toBeLessThan(JOBS)
  recover()

  await until(async () => (await ended()) === JOBS)
  expect(await stack.query('select status, count(*)::int as jobs from jobs group by status')).toEqual([
    { status: 'SUCCEEDED', jobs: JOBS },
  ])
  expect(await stack.query('select * from dead_letters')).toEqual([])
  // With what happened to each, so that a failure says where the charge came from.
  const charged = await stack.query(
    `select job_id, attempts,
       (select array_agg(event || ' ' || attempts order by event_id) from job_events where job_id = jobs.job_id) as story
     from jobs where attempts <> 1`,
  )
  expect(charged).toEqual([])
  expect(await stack.query('select 1 from processed_operations')).toHaveLength(JOBS)
  expect(await stack.query('select * from outbox')).toEqual([])
})

/** Straight into the table and the store, as the API puts them there: the uploads are not what this is about. */
async function acceptJobs(): Promise<void> {
  const { bytes, contentType } = await testImage('png-one-pixel')
  const original = {
    ...{ contentType, bytes: bytes.length, width: 1, height: 1 },
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
  const s3 = createS3Client(stack.aws.endpointUrl)
  const db = openDatabase(stack.databaseUrl, { max: 4, callMs: 20_000, application: 'test' })
  const jobs = createPostgresJobs(db)
  await Promise.all(
    Array.from({ length: JOBS }, async (_, i) => {
      const jobId = `img_outage${i}`
      await s3.send(
        new PutObjectCommand({
          Bucket: stack.bucket,
          Key: `originals/${jobId}`,
          Body: new Uint8Array(bytes),
        }),
      )
      await acceptJob(jobs, { jobId, original })
    }),
  )
  await db.destroy()
  s3.destroy()
}

async function ended(): Promise<number> {
  const [row] = await stack.query<{ ended: number }>(
    'select count(*)::int as ended from jobs where finished_at is not null',
  )
  return row!.ended
}

/** By the database's clock, which all the durations of the protocol are measured with. */
async function lasts(ms: number): Promise<void> {
  const [begun] = await stack.query<{ at: string }>('select now()::text as at')
  await until(async () => {
    const [row] = await stack.query<{ over: boolean }>(
      `select now() - $1::timestamptz > $2::int * interval '1 millisecond' as over`,
      begun!.at,
      ms,
    )
    return row!.over
  })
}
