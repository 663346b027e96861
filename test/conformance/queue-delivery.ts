import { expect } from 'vitest'
import { hide, message, type Rule, receiveAll, receiveOne, signal } from './queue-bench.ts'

/** What is sent, and how it is received. */
export function deliveryRules(rule: Rule): void {
  rule('gives a message as it was sent, with the id that the send answered', async ({ jobs }) => {
    const sent = message('{"text":"Grüße, 画像\\n"}', { generation: '12', 'a.b-c_d': 'ß' })
    const [outcome] = await jobs.send([sent], signal())
    const received = await receiveOne(jobs)
    expect(outcome).toEqual({ ok: true, messageId: received.messageId })
    expect(received).toMatchObject({ ...sent, receiveCount: 1 })
  })

  rule(
    'takes characters beyond the first 65,536',
    async ({ jobs }) => {
      const sent = message('🖼', { kind: '🖼' })
      await jobs.send([sent], signal())
      expect(await receiveOne(jobs)).toMatchObject(sent)
    },
    'no emoji',
  )

  rule('gives a message without attributes without attributes', async ({ jobs }) => {
    await jobs.send([message('x')], signal())
    expect((await receiveOne(jobs)).attributes).toEqual({})
  })

  rule('answers in the messages’ order, and one refusal costs the others nothing', async ({ jobs }) => {
    const bodies = ['0', '1', 'a\u0000b', '3', 'a\u001bb', '5', '6', '7', '8', '9']
    const outcomes = await jobs.send(
      bodies.map((body) => message(body)),
      signal(),
    )
    const refused = { ok: false, code: expect.any(String), permanent: true }
    expect([outcomes[2], outcomes[4]]).toEqual([refused, refused])
    const received = await receiveAll(jobs, 8)
    const bodyOf = new Map(received.map(({ messageId, body }) => [messageId, body]))
    expect(outcomes.map((outcome) => (outcome.ok ? bodyOf.get(outcome.messageId) : 'refused'))).toEqual(
      bodies.map((body) => (body.length === 1 ? body : 'refused')),
    )
  })

  rule('receives no more than was asked for', async ({ jobs }) => {
    await jobs.send(
      ['1', '2', '3', '4'].map((body) => message(body)),
      signal(),
    )
    for (let received = 0; received < 4; ) {
      const some = await jobs.receive({ max: 2, waitSeconds: 0 }, signal())
      expect(some.length).toBeLessThanOrEqual(2)
      received += some.length
    }
  })

  rule('answers nothing when nothing comes within the wait', async ({ jobs }) => {
    expect(await jobs.receive({ max: 10, waitSeconds: 1 }, signal())).toEqual([])
  })

  rule('ends a wait as soon as a message is sent', async ({ jobs }) => {
    const received = jobs.receive({ max: 1, waitSeconds: 20 }, signal())
    await jobs.send([message('late')], signal())
    expect(await received).toMatchObject([{ body: 'late' }])
  })

  rule('counts what is visible and what is in flight', async ({ jobs }) => {
    await jobs.send(
      ['1', '2', '3'].map((body) => message(body)),
      signal(),
    )
    expect(await jobs.depth(signal())).toEqual({ visible: 3, inFlight: 0, delayed: 0 })
    await hide(jobs, await receiveOne(jobs), 60)
    expect(await jobs.depth(signal())).toEqual({ visible: 2, inFlight: 1, delayed: 0 })
  })

  rule('rejects with the signal’s reason when a wait is aborted', async ({ jobs }) => {
    const abort = new AbortController()
    const received = jobs.receive({ max: 1, waitSeconds: 20 }, abort.signal)
    const reason = new Error('enough')
    setImmediate(() => abort.abort(reason))
    await expect(received).rejects.toBe(reason)
  })

  rule('rejects with the signal’s reason when it has aborted already', async ({ jobs }) => {
    const reason = new Error('enough')
    const aborted = AbortSignal.abort(reason)
    const entry = { receiptHandle: 'none', seconds: 1 }
    await expect(jobs.send([message('x')], aborted)).rejects.toBe(reason)
    await expect(jobs.receive({ max: 1, waitSeconds: 0 }, aborted)).rejects.toBe(reason)
    await expect(jobs.changeVisibility([entry], aborted)).rejects.toBe(reason)
    await expect(jobs.delete(['none'], aborted)).rejects.toBe(reason)
    await expect(jobs.depth(aborted)).rejects.toBe(reason)
    expect(await jobs.depth(signal())).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
  })

  rule('takes batches of one to ten', async ({ jobs }) => {
    const eleven = Array.from({ length: 11 }, (_, i) => message(String(i)))
    await expect(jobs.send([], signal())).rejects.toThrow(RangeError)
    await expect(jobs.send(eleven, signal())).rejects.toThrow(RangeError)
    await expect(jobs.changeVisibility([], signal())).rejects.toThrow(RangeError)
    await expect(jobs.delete([], signal())).rejects.toThrow(RangeError)
    await expect(jobs.delete(Array(11).fill('none'), signal())).rejects.toThrow(RangeError)
  })
}
