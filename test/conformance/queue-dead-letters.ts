import { expect } from 'vitest'
import { hide, MAX_RECEIVE_COUNT, message, type Rule, receiveOne, signal, useUp } from './queue-bench.ts'

/** What becomes of a message that is received too often. */
export function deadLetterRules(rule: Rule): void {
  rule('moves a message to the dead letters on the receive that would pass the limit', async (queues) => {
    const { jobs, deadLetters } = queues
    const sent = message('poison', { generation: '3' })
    await jobs.send([sent], signal())
    const { messageId } = await useUp(jobs)
    expect(await deadLetters.depth(signal())).toMatchObject({ visible: 0, inFlight: 0 })
    expect(await jobs.receive({ max: 10, waitSeconds: 0 }, signal())).toEqual([])
    expect(await jobs.depth(signal())).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
    const dead = await receiveOne(deadLetters)
    expect(dead).toMatchObject({ ...sent, messageId })
    expect(dead.receiveCount).toBeGreaterThan(MAX_RECEIVE_COUNT)
  })

  rule('gives the next message where the first one is moved away', async ({ jobs }) => {
    await jobs.send([message('poison')], signal())
    await useUp(jobs)
    await jobs.send([message('healthy')], signal())
    expect(await receiveOne(jobs)).toMatchObject({ body: 'healthy', receiveCount: 1 })
  })

  rule('keeps dead letters, however often they are received', async ({ jobs, deadLetters }) => {
    await jobs.send([message('poison')], signal())
    await useUp(jobs)
    await jobs.receive({ max: 10, waitSeconds: 0 }, signal())
    for (let receives = 0; receives < 2 * MAX_RECEIVE_COUNT; receives++) {
      await hide(deadLetters, await receiveOne(deadLetters), 0)
    }
    const { receiptHandle } = await receiveOne(deadLetters)
    await deadLetters.delete([receiptHandle], signal())
    expect(await deadLetters.depth(signal())).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
  })
}
