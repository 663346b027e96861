import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Client, createClient } from '../../client/index.ts'
import type { OutgoingMessage } from '../../core/ports/queue.ts'
import { createSqsClient } from '../../infra/sqs/client.ts'
import { createSqsQueue } from '../../infra/sqs/sqs-queue.ts'
import { startTestAws, type TestAws } from '../aws.ts'
import { createTestDatabase } from '../database.ts'
import { type AppName, type AppProcess, startApp } from './app-process.ts'
import { type Interceptor, startInterceptor } from './interceptor.ts'

/** The whole service as users run it: processes of its own, on a Postgres, an SQS queue and an S3 bucket of its own. */
export interface Stack {
  aws: Interceptor
  databaseUrl: string
  queues: { jobsUrl: string; deadLettersUrl: string }
  bucket: string
  start(name: AppName, env?: Record<string, string>, root?: string): Promise<AppProcess>
  /** What users install, talking to the API that was started last. */
  client(): Client
  /** Posts an image to the API that was started last. */
  post(bytes: Buffer, contentType: string, key?: string): Promise<Response>
  /** Posts an image that has to be accepted; the job's id. */
  accept(bytes: Buffer, contentType: string): Promise<string>
  get(path: string): Promise<Response>
  job(jobId: string): Promise<Record<string, unknown>>
  /** The job once it is terminal. */
  ended(jobId: string): Promise<Record<string, unknown>>
  /** The job's events, oldest first. */
  events(jobId: string): Promise<string[]>
  /** Puts a message into one of {@link queues}, past the relay. */
  send(queueUrl: string, message: OutgoingMessage): Promise<void>
  query<Row extends object>(sql: string, ...values: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/**
 * The protocol's durations, about ten times shorter. A lease of three seconds still leaves a loaded machine room: a
 * shorter one would be lost to the test machine, not to a fault.
 */
export const SCALED: Record<string, string> = {
  HEARTBEAT_MS: '600',
  LEASE_MS: '3000',
  VISIBILITY_SECONDS: '3',
  CALL_MS: '2000',
  GRACE_MS: '6000',
  REPUBLISH_AGE_MS: '7000',
  EVIDENCE_MS: '1000',
  BACKOFF_BASE_MS: '100',
  BACKOFF_CAP_MS: '1000',
  POLL_SECONDS: '1',
  DRAIN_MS: '1000',
  STOP_GRACE_MS: '8000',
  RESERVATION_MS: '1500',
  OUTBOX_LEASE_MS: '2000',
  RELAY_POLL_MS: '200',
  SWEEP_MS: '300',
  ATTEMPT_MS: '30000',
  CONCURRENCY: '2',
}

export async function startStack(env: Record<string, string> = {}): Promise<Stack> {
  const settings = { ...SCALED, ...env }
  const database = await createTestDatabase()
  const testAws: TestAws = await startTestAws()
  const visibilitySeconds = Number(settings.VISIBILITY_SECONDS)
  const queues = await testAws.createQueues({ visibilitySeconds, maxReceiveCount: 50 })
  const bucket = await testAws.createBucket()
  const aws = await startInterceptor(testAws.endpointUrl)
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  const processes: AppProcess[] = []
  let api = ''

  const stack: Stack = {
    aws,
    databaseUrl: database.url,
    queues,
    bucket,
    async start(name, more = {}, root) {
      const its = {
        DATABASE_URL: database.url,
        QUEUE_URL: queues.jobsUrl,
        S3_BUCKET: bucket,
        AWS_ENDPOINT_URL: aws.endpointUrl,
      }
      const app = await startApp(name, { ...settings, ...its, ...more }, root)
      processes.push(app)
      if (name === 'api') api = `http://127.0.0.1:${app.port}`
      return app
    },
    client: () => createClient({ baseUrl: api }),
    post: (bytes, contentType, key = randomUUID()) =>
      fetch(`${api}/v1/images`, {
        method: 'POST',
        headers: { 'content-type': contentType, 'idempotency-key': key },
        body: new Uint8Array(bytes),
      }),
    accept: async (bytes, contentType) =>
      (await stack.client().upload(new Uint8Array(bytes), { contentType })).job_id,
    get: (path) => fetch(`${api}${path}`),
    job: async (jobId) => (await stack.get(`/v1/jobs/${jobId}`)).json() as Promise<Record<string, unknown>>,
    ended: (jobId) =>
      until(async () => {
        const job = await stack.job(jobId)
        return job.status === 'SUCCEEDED' || job.status === 'FAILED' ? job : null
      }),
    async events(jobId) {
      const rows = await stack.query<{ event: string }>(
        'select event from job_events where job_id = $1 order by event_id',
        jobId,
      )
      return rows.map(({ event }) => event)
    },
    async send(queueUrl, message) {
      const client = createSqsClient(testAws.endpointUrl)
      await createSqsQueue(client, queueUrl).send([message], AbortSignal.timeout(10_000))
      client.destroy()
    },
    async query<Row extends object>(sql: string, ...values: unknown[]) {
      return (await pool.query<Row>(sql, values)).rows
    },
    async close() {
      await Promise.all(processes.map((app) => app.kill()))
      await pool.end()
      aws.close()
      await testAws.stop()
      await database.drop()
    },
  }
  return stack
}

/** What `ask` answers once it answers something; the test's own timeout ends what never comes. */
export async function until<T>(ask: () => Promise<T | null | undefined | false>): Promise<T> {
  while (true) {
    const answer = await ask()
    if (answer) return answer
    await delay(50)
  }
}
