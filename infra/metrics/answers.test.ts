import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { Callbacks } from '../../core/ports/callbacks.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { Queue } from '../../core/ports/queue.ts'
import { createCallObserver } from './calls.ts'
import { observeDeliveries } from './deliveries.ts'
import { observePublications } from './publications.ts'
import { countRendererEnds } from './renderer.ts'
import { observeCallbacks, observeRepairs } from './repairs.ts'

const signal = new AbortController().signal
const registry = () => new Registry()

/** The samples of a metric that are not 0, by their labels' values. */
async function counted(of: Registry, name: string): Promise<Record<string, number>> {
  const values = (await of.getSingleMetric(name)!.get()).values as { labels: object; value: number }[]
  const nonzero = values.filter(({ value }) => value !== 0)
  return Object.fromEntries(nonzero.map(({ labels, value }) => [Object.values(labels).join(' '), value]))
}

test('a queue’s answers tell of messages that came again and of handles that were too old', async () => {
  const of = registry()
  const refused = { ok: false as const, code: 'ReceiptHandleIsInvalid', permanent: true }
  const queue = observeDeliveries(of, {
    receive: async () => [1, 2, 7].map((receiveCount) => ({ receiveCount })),
    delete: async () => [refused],
    changeVisibility: async () => [{ ok: true }, refused, refused],
  } as unknown as Queue)
  await queue.receive({ max: 10, waitSeconds: 0 }, signal)
  await queue.delete(['a'], signal)
  await queue.changeVisibility([], signal)
  expect(await counted(of, 'img42_messages_received_total')).toEqual({ false: 1, true: 2 })
  expect(await counted(of, 'img42_stale_handles_total')).toEqual({ delete: 1, change_visibility: 2 })
})

test('each message is published, refused, refused for good or without an answer', async () => {
  const of = registry()
  const outcomes = [
    { ok: true as const, messageId: 'a' },
    { ok: false as const, code: 'InternalError', permanent: false },
    { ok: false as const, code: 'InvalidMessageContents', permanent: true },
  ]
  const answers = [async () => outcomes, () => Promise.reject(new Error('no answer'))]
  const queue = observePublications(of, { send: () => answers.shift()!() } as unknown as Queue)
  const messages = outcomes.map(() => ({ body: '', attributes: {} }))
  await queue.send(messages, signal)
  await expect(queue.send(messages, signal)).rejects.toThrow('no answer')
  expect(await counted(of, 'img42_published_total')).toEqual({ '': 1 })
  expect(await counted(of, 'img42_publish_failures_total')).toEqual({
    ...{ refused: 1, refused_for_good: 1, no_answer: 3 },
  })
})

test('what sweeps acted on is repairs, and dead letters count by their verdict', async () => {
  const of = registry()
  const verdicts = ['republished', 'false_quarantine', 'republished']
  const jobs = observeRepairs(of, {
    republishLost: async () => ['a', 'b'],
    rescue: async () => ['c'],
    expire: async () => [],
    takeDeadLetter: async () => ({ kind: verdicts.shift() }),
    parkMessage: async () => {},
  } as unknown as Jobs)
  expect(await jobs.republishLost({ ageMs: 1, evidenceMs: 1, queueEmpty: false, max: 1 })).toEqual(['a', 'b'])
  await jobs.rescue({ graceMs: 1, budget: 1, max: 1 })
  await jobs.expire({ max: 1 })
  const letter = { messageId: 'm', body: null, reason: '', receiveCount: 50 }
  for (let i = 0; i < 3; i++) await jobs.takeDeadLetter({ ...letter, jobId: 'a', generation: 1, budget: 1 })
  await jobs.parkMessage(letter)
  expect(await counted(of, 'img42_repairs_total')).toEqual({
    ...{ republished: 2, rescued: 1, dead_letter_republished: 2 },
  })
  expect(await counted(of, 'img42_dead_letter_verdicts_total')).toEqual({
    ...{ republished: 2, false_quarantine: 1, unreadable: 1 },
  })
})

test('sends of callbacks count by what became of them', async () => {
  const of = registry()
  const callbacks = observeCallbacks(of, { record: async () => {} } as unknown as Callbacks)
  const send = { callbackId: 'c', token: 't', durationMs: 1 }
  const outcome = { kind: 'failed', error: 'timeout' } as const
  await callbacks.record({ ...send, outcome, verdict: { state: 'PENDING', delayMs: 1 } })
  await callbacks.record({ ...send, outcome, verdict: { state: 'GIVEN_UP' } })
  expect(await counted(of, 'img42_callbacks_total')).toEqual({ retried: 1, given_up: 1 })
})

test('a rendering process ended for its memory, for what it was killed for, or by itself', async () => {
  const of = registry()
  const ended = countRendererEnds(of)
  ended({ killedFor: null, wasReady: true, outOfMemory: true })
  ended({ killedFor: 'abandoned', wasReady: true, outOfMemory: false })
  ended({ killedFor: null, wasReady: true, outOfMemory: false })
  ended({ killedFor: null, wasReady: false, outOfMemory: false })
  expect(await counted(of, 'img42_renderer_ends_total')).toEqual({
    ...{ memory: 1, abandoned: 1, crashed: 1, did_not_start: 1 },
  })
})

test('calls are timed by port, method and outcome, and answer as before', async () => {
  const of = registry()
  const answers = [async () => 'answer', () => Promise.reject(new Error('refused'))]
  const port = createCallObserver(of)('object_store', {
    name: 'not a method',
    putObject: () => answers.shift()!(),
  })
  expect(port.name).toBe('not a method')
  expect(await port.putObject()).toBe('answer')
  await expect(port.putObject()).rejects.toThrow('refused')
  const text = await of.metrics()
  for (const outcome of ['ok', 'failed']) {
    expect(text).toContain(
      `img42_call_seconds_count{port="object_store",call="put_object",outcome="${outcome}"} 1`,
    )
  }
})
