import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { OutgoingMessage, Queue } from '../../core/ports/queue.ts'
import { activeTraceparent, inSpan } from './spans.ts'
import { tracePort } from './traced-port.ts'
import { inDelivery, traceQueue } from './traced-queue.ts'

const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

beforeEach(() => exporter.reset())
afterAll(() => {
  trace.disable()
  context.disable()
})

const TRACE = 'abcdef0123456789abcdef0123456789'
const PARENT = `00-${TRACE}-0123456789abcdef-01`
const spans = async () => {
  await provider.forceFlush()
  return exporter.getFinishedSpans()
}

function queueThat(send: Queue['send']): Queue {
  const none = async () => []
  const depth = async () => ({ visible: 0, inFlight: 0, delayed: 0 })
  return { send, receive: none, changeVisibility: none, delete: none, depth }
}

test('each message is published within the trace that it carries, and delivered below that', async () => {
  const sent: OutgoingMessage[] = []
  const queue = traceQueue(
    queueThat(async (messages) => {
      sent.push(...messages)
      return [
        { ok: true, messageId: 'm1' },
        { ok: false, code: 'Throttled', permanent: false },
        { ok: true, messageId: 'm3' },
      ]
    }),
  )
  const attributes = { generation: '1' }
  await queue.send(
    [
      { body: 'a', attributes: { ...attributes, traceparent: PARENT } },
      { body: 'b', attributes: { ...attributes, traceparent: PARENT } },
      { body: 'c', attributes },
    ],
    new AbortController().signal,
  )
  expect(sent[2]).toEqual({ body: 'c', attributes })
  await inDelivery({ ...sent[0]!, messageId: 'm1', receiptHandle: 'r', receiveCount: 2 }, async () => {
    expect(activeTraceparent()).toMatch(new RegExp(`^00-${TRACE}-`))
  })

  const [first, second, delivery] = await spans()
  expect([first!.name, second!.name, delivery!.name]).toEqual([
    'publish jobs',
    'publish jobs',
    'process jobs',
  ])
  for (const span of [first!, second!]) expect(span.parentSpanContext?.spanId).toBe('0123456789abcdef')
  expect(first!.attributes).toMatchObject({ 'messaging.message.id': 'm1' })
  expect(second!.status).toMatchObject({ code: 2, message: 'Throttled' })
  expect(delivery!.parentSpanContext?.spanId).toBe(first!.spanContext().spanId)
  expect(delivery!.attributes).toMatchObject({ 'img42.receive_count': 2 })
})

test('a queue that does not answer fails each message’s publication', async () => {
  const queue = traceQueue(
    queueThat(async () => {
      throw new Error('no route\nto the host')
    }),
  )
  const message = { body: 'a', attributes: { traceparent: PARENT } }
  await expect(queue.send([message, message], new AbortController().signal)).rejects.toThrow('no route')
  expect((await spans()).map(({ status }) => status.message)).toEqual(['no route', 'no route'])
})

test('a call is a span of what it is called for, and none where nothing is traced', async () => {
  const port = tracePort('object_store', {
    put: async (key: string) => {
      if (key === 'full') throw new Error('no space')
      return key.length
    },
  })
  expect(await port.put('one')).toBe(3)
  expect(await spans()).toEqual([])
  await inSpan('outer', {}, async () => {
    expect(await port.put('one')).toBe(3)
    await expect(port.put('full')).rejects.toThrow('no space')
  })
  const [put, failed, outer] = await spans()
  expect([put!.name, failed!.name, outer!.name]).toEqual(['object_store.put', 'object_store.put', 'outer'])
  expect(put!.parentSpanContext?.spanId).toBe(outer!.spanContext().spanId)
  expect(failed!.status).toMatchObject({ code: 2, message: 'no space' })
  // Keys and bodies are its arguments, and no attributes.
  expect(put!.attributes).toEqual({ 'peer.service': 'object_store' })
})

test.each([
  '',
  'nonsense',
  `00-${'0'.repeat(32)}-0123456789abcdef-01`,
  `01-${TRACE}-0123456789abcdef-01`,
  null,
])('what is no traceparent (%s) begins a trace of its own', async (parent) => {
  await inSpan('outer', {}, () => inSpan('inner', { parent }, async () => {}))
  const [inner, outer] = await spans()
  expect(inner!.parentSpanContext).toBeUndefined()
  expect(inner!.spanContext().traceId).not.toBe(outer!.spanContext().traceId)
})

test('a trace that its client did not keep is not kept here, and goes on as such', async () => {
  await inSpan('unkept', { parent: `00-${TRACE}-0123456789abcdef-00` }, async () => {
    expect(activeTraceparent()).toMatch(/-00$/)
  })
  expect(await spans()).toEqual([])
})
