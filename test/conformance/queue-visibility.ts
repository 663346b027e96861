import { expect } from 'vitest'
import type { ReceivedMessage } from '../../core/ports/queue.ts'
import {
  hide,
  message,
  REFUSED_FOR_GOOD,
  type Rule,
  receiveAll,
  receiveOne,
  signal,
  VISIBILITY_SECONDS,
} from './queue-bench.ts'

/** Receipt handles: hiding, giving back, deleting. */
export function visibilityRules(rule: Rule): void {
  rule('gives a message back when its visibility ran out, under a new handle', async ({ jobs }) => {
    await jobs.send([message('x')], signal())
    const first = await receiveOne(jobs)
    const second = await receiveOne(jobs)
    expect(second).toMatchObject({ messageId: first.messageId, body: 'x', receiveCount: 2 })
    expect(second.receiptHandle).not.toBe(first.receiptHandle)
  })

  rule('gives a message back at once when it is hidden for 0 seconds', async ({ jobs }) => {
    await jobs.send([message('x')], signal())
    const first = await receiveOne(jobs)
    await hide(jobs, first, 3_600)
    expect(await hide(jobs, first, 0)).toEqual({ ok: true })
    expect(await receiveOne(jobs)).toMatchObject({ messageId: first.messageId, receiveCount: 2 })
  })

  rule('keeps a message hidden for as long as it was told last', async ({ jobs }) => {
    await jobs.send([message('x')], signal())
    const held = await receiveOne(jobs)
    expect(await hide(jobs, held, 3_600)).toEqual({ ok: true })
    expect(await jobs.receive({ max: 10, waitSeconds: 2 * VISIBILITY_SECONDS }, signal())).toEqual([])
    expect(await jobs.depth(signal())).toEqual({ visible: 0, inFlight: 1, delayed: 0 })
  })

  rule(
    'refuses to hide under a handle that a later receive replaced',
    async ({ jobs }) => {
      await jobs.send([message('x')], signal())
      const first = await receiveOne(jobs)
      const second = await receiveOne(jobs)
      expect(await hide(jobs, first, 60)).toEqual(REFUSED_FOR_GOOD)
      expect(await hide(jobs, second, 60)).toEqual({ ok: true })
    },
    'old handles act',
  )

  rule(
    'refuses to hide what was given back or deleted, and hides the rest of the batch',
    async ({ jobs }) => {
      await jobs.send(
        ['1', '2', '3'].map((body) => message(body)),
        signal(),
      )
      const [first, second, third] = (await receiveAll(jobs, 3)) as [
        ReceivedMessage,
        ReceivedMessage,
        ReceivedMessage,
      ]
      await hide(jobs, first, 0)
      await jobs.delete([second.receiptHandle], signal())
      const changes = [first, second, third].map(({ receiptHandle }) => ({ receiptHandle, seconds: 60 }))
      expect(await jobs.changeVisibility(changes, signal())).toEqual([
        REFUSED_FOR_GOOD,
        REFUSED_FOR_GOOD,
        { ok: true },
      ])
    },
    'visible is hidden',
  )

  rule(
    'refuses to hide for more than 12 hours',
    async ({ jobs }) => {
      await jobs.send([message('x')], signal())
      expect(await hide(jobs, await receiveOne(jobs), 43_201)).toEqual(REFUSED_FOR_GOOD)
    },
    'no limit',
  )

  rule(
    'refuses to hide beyond 12 hours from the receive, and changes nothing then',
    async ({ jobs }) => {
      await jobs.send([message('x')], signal())
      const held = await receiveOne(jobs)
      await hide(jobs, held, 2)
      // One of the two seconds passes.
      await jobs.receive({ max: 1, waitSeconds: 1 }, signal())
      expect(await hide(jobs, held, 43_200)).toEqual(REFUSED_FOR_GOOD)
      expect(await receiveOne(jobs)).toMatchObject({ messageId: held.messageId, receiveCount: 2 })
    },
    'no ceiling',
  )

  rule('deletes a message for good under its newest handle', async ({ jobs }) => {
    await jobs.send([message('x')], signal())
    await receiveOne(jobs)
    const { receiptHandle } = await receiveOne(jobs)
    expect(await jobs.delete([receiptHandle], signal())).toEqual([{ ok: true }])
    expect(await jobs.receive({ max: 1, waitSeconds: 2 * VISIBILITY_SECONDS }, signal())).toEqual([])
    expect(await jobs.depth(signal())).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
    expect(await jobs.delete([receiptHandle], signal())).toEqual([{ ok: true }])
  })

  rule(
    'deletes nothing under an old handle, whatever it answers',
    async ({ jobs }) => {
      await jobs.send([message('x')], signal())
      const { receiptHandle } = await receiveOne(jobs)
      await receiveOne(jobs)
      await jobs.delete([receiptHandle], signal())
      expect(await receiveOne(jobs)).toMatchObject({ body: 'x', receiveCount: 3 })
    },
    'old handles act',
  )

  rule(
    'deletes a message that is visible again, as long as nobody else received it',
    async ({ jobs }) => {
      await jobs.send([message('x')], signal())
      const held = await receiveOne(jobs)
      await hide(jobs, held, 0)
      expect(await jobs.delete([held.receiptHandle], signal())).toEqual([{ ok: true }])
      expect(await jobs.depth(signal())).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
    },
    'no late delete',
  )

  rule('deletes a batch, each of its messages and no other', async ({ jobs }) => {
    await jobs.send(
      ['1', '2', '3'].map((body) => message(body)),
      signal(),
    )
    const [first, second, third] = await receiveAll(jobs, 3)
    await jobs.delete([first!.receiptHandle, third!.receiptHandle], signal())
    await hide(jobs, second!, 0)
    expect(await receiveOne(jobs)).toMatchObject({ messageId: second!.messageId })
    expect(await jobs.depth(signal())).toMatchObject({ visible: 0, inFlight: 1 })
  })
}
