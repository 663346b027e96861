import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HAS_PROC, renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import { encodeJobMessage } from '../../core/job-message.ts'
import { originalKey } from '../../core/object-keys.ts'
import { asAdmin } from '../database.ts'
import type { AppName, AppProcess } from '../end-to-end/app-process.ts'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'
import { type StubServer, startStubServer } from '../stub-server.ts'
import { type Scrape, scrape } from './scrape.ts'

const APPS: AppName[] = ['api', 'worker', 'reconciler']

let stack: Stack
let moderator: StubServer
let apps: Record<AppName, AppProcess>

beforeAll(async () => {
  // What is transparent becomes WebP, and of that this moderator says that it cannot judge the picture.
  moderator = await startStubServer((request, response) => {
    request.resume().on('end', () => {
      const poison = request.headers['content-type'] === 'image/webp'
      response.writeHead(poison ? 422 : 200).end(JSON.stringify({ verdict: 'approved', labels: [] }))
    })
  })
  stack = await startStack({ MAX_ATTEMPTS: '2', MODERATION_URL: moderator.url })
  const [api, worker, reconciler] = await Promise.all(APPS.map((name) => stack.start(name)))
  apps = { api: api!, worker: worker!, reconciler: reconciler! }
})
afterAll(async () => {
  await stack?.close()
  await moderator?.stop()
})

const read = (app: AppName) => scrape(apps[app].metricsPort)
/** The app's metrics once they satisfy: what a process counts, it counts a moment after its effect can be seen. */
const metrics = (app: AppName, enough: (of: Scrape) => boolean) =>
  until(async () => {
    const said = await read(app)
    return enough(said) && said
  })

test('counters stand at 0 before anything has happened', async () => {
  const [api, worker, reconciler] = await Promise.all(APPS.map(read))
  expect(api!.value('img42_admissions_total', { outcome: 'accepted' })).toBe(0)
  expect(api!.value('img42_admission_refusals_total', { code: 'unsupported_type' })).toBe(0)
  expect(worker!.value('img42_attempts_total', { outcome: 'retried', code: 'moderation_failed' })).toBe(0)
  expect(worker!.value('img42_lost_fences_total', { call: 'heartbeat' })).toBe(0)
  expect(reconciler!.value('img42_repairs_total', { kind: 'republished' })).toBe(0)
  expect(reconciler!.value('img42_publish_failures_total', { reason: 'no_answer' })).toBe(0)
  expect(reconciler!.value('img42_jobs_ended_total', { status: 'FAILED', code: 'expired' })).toBe(0)
})

test('a good image is seen by each app: admitted once, published once, claimed once, ended once', async () => {
  const { bytes } = await testImage('jpeg-orientation-6')
  const answers = [await stack.post(bytes, 'image/jpeg', 'k'), await stack.post(bytes, 'image/jpeg', 'k')]
  expect(answers.map(({ status }) => status)).toEqual([202, 202])
  const { job_id: jobId } = (await answers[0]!.json()) as { job_id: string }
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED' })

  const api = await metrics('api', (of) => of.value('img42_admissions_total') === 2)
  expect(api.value('img42_admissions_total', { outcome: 'accepted' })).toBe(1)
  expect(api.value('img42_admissions_total', { outcome: 'replayed' })).toBe(1)
  expect(api.value('img42_http_request_seconds_count', { operation: 'postImage', status: '202' })).toBe(2)
  expect(api.value('img42_http_request_seconds_count', { operation: 'getJob' })).toBeGreaterThan(0)
  expect(api.value('img42_call_seconds_count', { port: 'jobs', call: 'accept', outcome: 'ok' })).toBe(1)
  expect(api.value('img42_call_seconds_count', { port: 'object_store', call: 'put' })).toBe(1)

  const worker = await metrics('worker', (of) => of.value('img42_attempts_total') === 1)
  expect(worker.value('img42_attempts_total', { outcome: 'succeeded', code: 'none' })).toBe(1)
  expect(worker.value('img42_claims_total', { found: 'claimed' })).toBe(1)
  expect(worker.value('img42_messages_received_total', { repeated: 'false' })).toBe(1)
  expect(worker.value('img42_jobs_ended_total', { status: 'SUCCEEDED', code: 'none' })).toBe(1)
  for (const name of ['wait', 'run', 'end_to_end']) {
    expect(worker.value(`img42_job_${name}_seconds_count`, { format: 'jpeg' }), name).toBe(1)
  }
  const ran = worker.value('img42_job_run_seconds_sum')!
  expect(ran).toBeGreaterThan(0)
  expect(worker.value('img42_job_end_to_end_seconds_sum')).toBeGreaterThan(ran)
  expect(worker.value('img42_call_seconds_count', { port: 'moderator', call: 'judge', outcome: 'ok' })).toBe(
    1,
  )

  const reconciler = await metrics('reconciler', (of) => of.value('img42_published_total') === 1)
  expect(reconciler.value('img42_repairs_total')).toBe(0)
  expect(reconciler.value('img42_publish_failures_total')).toBe(0)
})

test('a refused upload is counted by its code, and admits nothing', async () => {
  const refused = await stack.post(Buffer.from('this is no image'), 'text/plain')
  expect(refused.status).toBe(415)
  const api = await metrics('api', (of) => of.value('img42_admission_refusals_total') === 1)
  expect(api.value('img42_admission_refusals_total', { code: 'unsupported_type' })).toBe(1)
  expect(api.value('img42_admissions_total')).toBe(2)
})

test('a poison image is seen as a retry, a spent budget, a repeated message, and a dead letter', async () => {
  const { bytes } = await testImage('png-alpha')
  const jobId = await stack.accept(bytes, 'image/png')
  expect(await stack.ended(jobId)).toMatchObject({ status: 'FAILED', error: { code: 'attempts_exhausted' } })

  const failed = { outcome: 'failed', code: 'attempts_exhausted' }
  const worker = await metrics('worker', (of) => of.value('img42_attempts_total', failed) === 1)
  expect(worker.value('img42_attempts_total', { outcome: 'retried', code: 'moderation_failed' })).toBe(1)
  expect(worker.value('img42_messages_received_total', { repeated: 'true' })).toBeGreaterThanOrEqual(1)
  expect(worker.value('img42_jobs_ended_total', { status: 'FAILED', code: 'attempts_exhausted' })).toBe(1)
  expect(worker.value('img42_job_run_seconds_count', { format: 'none' })).toBe(1)
  expect(worker.value('img42_job_wait_seconds_count', { format: 'none' })).toBeNull()
  expect(worker.value('img42_call_seconds_count', { call: 'judge', outcome: 'failed' })).toBe(2)

  const reconciler = await metrics('reconciler', (of) => of.value('img42_dead_letters_last_hour') === 1)
  expect(reconciler.value('img42_dead_letters_last_hour', { kind: 'true' })).toBe(1)
  expect(reconciler.value('img42_dead_letters_last_hour', { kind: 'false' })).toBe(0)
})

test('a duplicate delivery of a finished job is seen as one, and ends nothing', async () => {
  const { bytes } = await testImage('jpeg-orientation-6')
  const jobId = await stack.accept(bytes, 'image/jpeg')
  await stack.ended(jobId)
  const before = await metrics('worker', (of) => of.value('img42_claims_total', { found: 'claimed' }) === 4)
  const message = encodeJobMessage({ jobId, objectKey: originalKey(jobId), generation: 1 })
  await stack.send(stack.queues.jobsUrl, message)
  const finished = { found: 'finished' }
  const after = await metrics('worker', (of) => of.value('img42_claims_total', finished) === 1)
  expect(before.value('img42_claims_total', finished)).toBe(0)
  expect(after.value('img42_jobs_ended_total')).toBe(before.value('img42_jobs_ended_total'))
})

test('docs/metrics.md has every metric that an app exposes, with its type and labels, and no other', async () => {
  const documented = readDocument()
  const withLabels = new Set<string>()
  for (const app of APPS) {
    const { types, samples } = await read(app)
    const expected = new Map(documented.filter((row) => row.apps.includes(app)).map((row) => [row.name, row]))
    expect([...types.keys()].sort(), app).toEqual([...expected.keys()].sort())
    for (const [name, type] of types) expect(type, name).toBe(expected.get(name)!.type)
    for (const { name, labels } of samples) {
      const metric = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
      const names = Object.keys(labels).filter((label) => label !== 'le')
      expect(names.sort(), metric).toEqual([...expected.get(metric)!.labels].sort())
      withLabels.add(metric)
    }
  }
  // Everything was met with its labels, but for what this process had at no moment.
  const unmet = documented.map(({ name }) => name).filter((name) => !withLabels.has(name))
  expect(unmet.filter((name) => !name.startsWith('nodejs_active_requests'))).toEqual([])
})

test('a job that its client cancels is an end of the API’s', async () => {
  await apps.worker.stop()
  const { bytes } = await testImage('jpeg-orientation-6')
  const jobId = await stack.accept(bytes, 'image/jpeg')
  const reconciler = await metrics(
    'reconciler',
    (of) => of.value('img42_jobs', { status: 'QUEUED' }) === 1 && of.value('img42_outbox_rows') === 0,
  )
  expect(reconciler.value('img42_oldest_job_age_seconds', { class: 'default' })).toBeGreaterThan(0)
  await metrics('reconciler', (of) => of.value('img42_queue_messages', { queue: 'jobs' }) === 1)

  await stack.client().cancel(jobId)
  const api = await metrics('api', (of) => of.value('img42_jobs_ended_total') === 1)
  expect(api.value('img42_jobs_ended_total', { status: 'FAILED', code: 'cancelled' })).toBe(1)
  apps.worker = await stack.start('worker')
})

test.runIf(HAS_PROC)('a rendering process that dies is counted by its cause, and replaced', async () => {
  const before = await metrics('worker', (of) => of.value('img42_renderer_processes') === 2)
  expect(before.value('img42_renderer_resident_bytes')).toBeGreaterThan(20_000_000)
  process.kill(renderProcessesOf(apps.worker.pid)[0]!, 'SIGKILL')
  const crashed = { cause: 'crashed' }
  const after = await metrics('worker', (of) => of.value('img42_renderer_ends_total', crashed) === 1)
  expect(after.value('img42_renderer_ends_total')).toBe(1)
  await metrics('worker', (of) => of.value('img42_renderer_processes') === 2)
})

test('while the database does not answer, the scrape goes on and says so', async () => {
  const down = { source: 'database' }
  const failed = { port: 'jobs', outcome: 'failed' }
  await asAdmin(stack.databaseUrl, async (client) => {
    await client.query('begin; lock table jobs in access exclusive mode')
    const reconciler = await metrics(
      'reconciler',
      (of) => of.value('img42_state_up', down) === 0 && of.value('img42_call_seconds_count', failed)! > 0,
    )
    expect(reconciler.value('img42_outbox_rows')).toBeNull()
    expect(reconciler.value('img42_jobs')).toBeNull()
    expect(reconciler.value('img42_state_up', { source: 'jobs' })).toBe(1)
    expect(reconciler.value('img42_published_total')).toBeGreaterThan(0)
  })
  const again = await metrics('reconciler', (of) => of.value('img42_state_up', down) === 1)
  expect(again.value('img42_outbox_rows')).toBe(0)
})

interface Row {
  apps: AppName[]
  name: string
  type: string
  labels: string[]
}

/** The tables of the page, each below the heading that says whose it is. */
function readDocument(): Row[] {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  return page.split(/^## /m).flatMap((section) => {
    const heading = section.split('\n', 1)[0]!
    const owners = heading.startsWith('Every app') ? APPS : APPS.filter((app) => app === heading)
    const rows = [...section.matchAll(/^\| `(\w+)` *\| (\w+) *\| ([^|]*)\|/gm)]
    return rows.map(([, name, type, labels]) => ({
      ...{ apps: owners, name: name!, type: type! },
      labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!),
    }))
  })
}
