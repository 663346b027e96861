import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AppProcess } from '../end-to-end/app-process.ts'
import { type Receiver, startReceiver } from '../end-to-end/receiver.ts'
import { type Stack, startStack, until } from '../end-to-end/stack.ts'
import { testImage } from '../images.ts'
import { type StubServer, startStubServer } from '../stub-server.ts'
import { type CollectedSpan, type Collector, startCollector } from './collector.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const TRACE = 'abcdef0123456789abcdef0123456789'
const CLIENTS_SPAN = '0123456789abcdef'

let stack: Stack
let collector: Collector
let receiver: Receiver
let moderator: StubServer
let apps: AppProcess[]

beforeAll(async () => {
  // The first picture is none that it can judge, and then it is: an attempt that fails, and one that does not.
  let asked = 0
  moderator = await startStubServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(++asked === 1 ? 422 : 200).end(JSON.stringify({ verdict: 'approved', labels: [] }))
    })
  })
  collector = await startCollector()
  receiver = await startReceiver()
  stack = await startStack({
    ...{ MODERATION_URL: moderator.url, CALLBACK_ALLOW: '127.0.0.1' },
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })
  apps = await Promise.all((['api', 'worker', 'reconciler'] as const).map((app) => stack.start(app)))
  await promisify(execFile)(
    process.execPath,
    ['apps/cli/main.ts', 'callbacks', 'secret', 'create', '--tenant', 'default'],
    { cwd: ROOT, env: { ...process.env, DATABASE_URL: stack.databaseUrl } },
  )
})
afterAll(async () => {
  await stack?.close()
  await moderator?.stop()
  receiver?.close()
  collector?.close()
})

/** A tree of spans: `name (app)` with its children, those of the same name put together. */
type Tree = { [name: string]: Tree }

function treeBelow(spans: CollectedSpan[], parent: string): Tree {
  const tree: Tree = {}
  for (const span of spans.filter(({ parentSpanId }) => parentSpanId === parent)) {
    // As many as time passes.
    if (['jobs.heartbeat', 'queue.changeVisibility'].includes(span.name)) continue
    const name = `${span.name} (${span.app.replace('img42-', '')}${span.failed ? ', failed' : ''})`
    tree[name] = { ...tree[name], ...treeBelow(spans, span.spanId) }
  }
  return tree
}

test('one trace leads from the request through outbox, queue, each attempt, S3 and Postgres to the callback', async () => {
  const { bytes } = await testImage('jpeg-gps')
  const target = `/v1/images?callback_url=${encodeURIComponent(`${receiver.url}/told?token=canary-in-url`)}`
  const response = await fetch(`http://127.0.0.1:${apps[0]!.port}${target}`, {
    method: 'POST',
    headers: {
      'content-type': 'image/jpeg',
      'idempotency-key': 'canary-key',
      traceparent: `00-${TRACE}-${CLIENTS_SPAN}-01`,
    },
    body: new Uint8Array(bytes),
  })
  const { job_id: jobId } = (await response.json()) as { job_id: string }
  expect(await stack.ended(jobId)).toMatchObject({ status: 'SUCCEEDED', attempts: 2 })
  await receiver.received('/told?token=canary-in-url')

  const spans = await until(() => {
    const found = collector.spans.filter(({ traceId }) => traceId === TRACE)
    const has = (name: string) => found.some((span) => span.name === name)
    return Promise.resolve(has('POST /v1/images') && has('callback') && has('jobs.end') && found)
  })
  expect(treeBelow(spans, CLIENTS_SPAN)).toEqual({
    'POST /v1/images (api)': {
      'jobs.reserve (api)': {},
      'object_store.put (api)': {},
      'jobs.accept (api)': {},
      // For the answer's Retry-After.
      'jobs.queuePace (api)': {},
      'publish jobs (reconciler)': {
        'process jobs (worker)': {
          'jobs.claim (worker)': {},
          // The one that the moderator refused, charged and retried.
          'attempt (worker, failed)': {
            'renderer.render (worker)': { 'object_store.get (worker)': {} },
            'moderator.judge (worker, failed)': {},
            'jobs.putBack (worker)': {},
          },
          'attempt (worker)': {
            'renderer.render (worker)': { 'object_store.get (worker)': {} },
            'moderator.judge (worker)': {},
            'object_store.put (worker)': {},
            'jobs.end (worker)': {},
            'queue.delete (worker)': {},
          },
        },
      },
      'callback (reconciler)': { 'callbacks.record (reconciler)': {} },
    },
  })

  const named = (name: string) => spans.filter((span) => span.name === name)
  expect(named('POST /v1/images')[0]!.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/images',
    'http.response.status_code': 202,
  })
  expect(
    new Set(named('process jobs').map(({ attributes }) => Number(attributes['img42.receive_count']))),
  ).toEqual(new Set([1, 2]))
  expect(named('attempt').map(({ attributes }) => attributes['error.type'])).toEqual([
    'moderation_failed',
    undefined,
  ])
  expect(named('attempt')[1]!.attributes).toMatchObject({ 'img42.job_id': jobId, 'img42.attempt': 2 })
  expect(named('callback')[0]!.attributes).toMatchObject({ 'http.response.status_code': 200 })
  expect(JSON.stringify(spans)).not.toMatch(/canary|X-Amz-|whsec_|Authorization/i)
})

test('what is logged about the job says the trace', async () => {
  for (const [app, msg] of [
    [apps[0]!, 'request'],
    [apps[1]!, 'claimed'],
    [apps[1]!, 'ended'],
    [apps[2]!, 'callback sent'],
  ] as const) {
    const line = await app.logged((one) => one.msg === msg)
    expect(line.trace_id, msg).toBe(TRACE)
  }
})

test('a request without a trace begins one, and a sweep or a look of the relay none', async () => {
  collector.spans.length = 0
  await stack.ended(await stack.accept((await testImage('png-opaque')).bytes, 'image/png'))
  const roots = await until(() => {
    const found = collector.spans.filter(({ parentSpanId }) => parentSpanId === '')
    return Promise.resolve(collector.spans.some(({ name }) => name === 'jobs.end') && found)
  })
  expect(new Set(roots.map(({ app, name }) => `${name} (${app})`))).toEqual(
    new Set(['POST /v1/images (img42-api)', 'GET /v1/jobs/{id} (img42-api)']),
  )
})

test('a collector that is gone costs nobody anything, not even the end', async () => {
  collector.close()
  await stack.ended(await stack.accept((await testImage('webp-lossy')).bytes, 'image/webp'))
  expect(await Promise.all(apps.map((app) => app.stop()))).toEqual([0, 0, 0])
})
