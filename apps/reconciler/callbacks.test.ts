import { describe, expect, it, vi } from 'vitest'
import { MAX_SENDS, type SendOutcome } from '../../core/callback-schedule.ts'
import type { DueCallback } from '../../core/ports/callbacks.ts'
import type { CallbackRequest } from '../../infra/callbacks/send.ts'
import { type CallbackParts, createCallbackSender } from './callbacks.ts'

const OK: SendOutcome = { kind: 'answered', statusCode: 200, retryAfterMs: null }
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const due = (more: Partial<DueCallback> = {}): DueCallback => ({
  ...{ callbackId: 'msg_a_1', jobId: 'img_a', tenant: 'one', url: 'https://a.example/', sends: 1 },
  ...{ event: 'job.succeeded', createdAt: new Date(0), error: null, traceparent: null, secrets: [SECRET] },
  ...more,
})

function start(waiting: DueCallback[], overrides: Partial<CallbackParts> = {}) {
  const sent: CallbackRequest[] = []
  const recorded: Parameters<CallbackParts['callbacks']['record']>[0][] = []
  const log: unknown[][] = []
  const line = (...words: unknown[]) => void log.push(words)
  const claims: number[] = []
  const sender = createCallbackSender({
    callbacks: {
      claim: async ({ max }) => {
        claims.push(max)
        return waiting.splice(0, max)
      },
      record: async (send) => void recorded.push(send),
    },
    send: async (request) => {
      sent.push(request)
      return OK
    },
    clock: { now: () => 1_614_265_330_000, sleep: async () => {} },
    random: { uniform: () => 0, bytes: (length) => new Uint8Array(length) },
    log: { debug: line, info: line, warn: line, error: line },
    onFree: () => {},
    ...overrides,
  })
  return { sender, sent, recorded, claims, log }
}

describe('the sender of callbacks', () => {
  it('sends what is due, signed, and records how it went', async () => {
    const { sender, sent, recorded } = start([
      due(),
      due({ callbackId: 'msg_b_2', event: 'job.failed', error: { code: 'corrupt', message: 'no image' } }),
    ])
    expect(await sender.turn()).toBe(true)
    await sender.settled()
    expect(sent[0]).toMatchObject({
      url: 'https://a.example/',
      headers: { 'webhook-id': 'msg_a_1', 'webhook-timestamp': '1614265330' },
    })
    expect(JSON.parse(sent[0]!.body)).toEqual({
      type: 'job.succeeded',
      timestamp: '1970-01-01T00:00:00.000Z',
      data: {
        ...{ job_id: 'img_a', status: 'SUCCEEDED', done: true, url: '/v1/jobs/img_a' },
        finished_at: '1970-01-01T00:00:00.000Z',
      },
    })
    expect(JSON.parse(sent[1]!.body)).toMatchObject({
      type: 'job.failed',
      data: { status: 'FAILED', error: { code: 'corrupt', message: 'no image', retryable: false } },
    })
    expect(recorded).toMatchObject([
      { callbackId: 'msg_a_1', outcome: OK, verdict: { state: 'DELIVERED' } },
      { callbackId: 'msg_b_2', outcome: OK, verdict: { state: 'DELIVERED' } },
    ])
    expect(await sender.turn()).toBe(false)
  })

  it('sends the same bytes each time, whenever that is', async () => {
    const { sender, sent } = start([due(), due({ sends: 2 })])
    await sender.turn()
    await sender.settled()
    expect(sent[1]?.body).toBe(sent[0]?.body)
  })

  it('sends nothing unsigned: a tenant without a secret has a failure', async () => {
    const { sender, sent, recorded } = start([due({ secrets: [] })])
    await sender.turn()
    await sender.settled()
    expect(sent).toEqual([])
    expect(recorded).toMatchObject([
      { outcome: { kind: 'failed', error: 'no_secret' }, verdict: { state: 'PENDING', delayMs: 5_000 } },
    ])
  })

  it('gives up after the last try', async () => {
    const refused: SendOutcome = { kind: 'answered', statusCode: 500, retryAfterMs: null }
    const { sender, recorded } = start([due({ sends: MAX_SENDS })], { send: async () => refused })
    await sender.turn()
    await sender.settled()
    expect(recorded).toMatchObject([{ verdict: { state: 'GIVEN_UP' } }])
  })

  it('claims no more than it has room for, and does not wait for what is slow', async () => {
    const answers: (() => void)[] = []
    const onFree = vi.fn()
    const slow = () => new Promise<SendOutcome>((resolve) => answers.push(() => resolve(OK)))
    const { sender, claims } = start(
      Array.from({ length: 70 }, () => due()),
      { send: slow, onFree },
    )
    expect(await sender.turn()).toBe(true)
    expect(await sender.turn()).toBe(false)
    expect(claims).toEqual([64])
    answers[0]!()
    await vi.waitFor(() => expect(onFree).toHaveBeenCalledOnce())
    await sender.turn()
    expect(claims).toEqual([64, 1])
    for (const answer of answers) answer()
    await sender.settled()
  })

  it('goes on when a record fails: the callback is due again by itself', async () => {
    const waiting = [due()]
    const claim = async () => waiting.splice(0)
    const record = async () => {
      throw new Error('the database did not answer')
    }
    const { sender, log } = start([], { callbacks: { claim, record } })
    await sender.turn()
    await sender.settled()
    expect(log.at(-1)).toMatchObject([{ callback_id: 'msg_a_1' }, 'callback not recorded'])
  })

  it('logs neither URL nor secret nor body', async () => {
    const { sender, log } = start([due({ url: 'https://a.example/canary-url', error: null })])
    await sender.turn()
    await sender.settled()
    expect(JSON.stringify(log)).not.toMatch(/canary|whsec|v1,/)
  })
})
