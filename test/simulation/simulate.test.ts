import { describe, expect, it } from 'vitest'
import { noFaults } from './faults.ts'
import { oneJob } from './scenario.ts'
import { simulate } from './simulate.ts'
import { scenarioOfSeed } from './swarm.ts'

describe('a simulation', () => {
  it('tells its story the same way whether or not anybody reads it', async () => {
    const scenario = scenarioOfSeed('7')
    const [read, unread] = [await simulate(scenario, { kept: true }), await simulate(scenario)]
    expect(read.hash).toBe(unread.hash)
    expect(read.trace.length).toBeGreaterThan(0)
    expect(unread.trace).toEqual([])
  })

  it('tells another story of another seed', async () => {
    const [one, other] = [await simulate(oneJob('one')), await simulate(oneJob('other'))]
    expect(one.hash).not.toBe(other.hash)
  })

  it('tells the plainest story from the upload to the delete', async () => {
    const { trace } = await simulate(oneJob('plain'), { kept: true, plan: noFaults })
    const steps = ['jobs.accept', 'queue.send', 'jobs.claim', 'store.put', 'jobs.end', 'queue.delete']
    const story = trace.join('\n')
    const places = steps.map((step) => story.lastIndexOf(`${step} done`))
    expect(places).not.toContain(-1)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })
})
