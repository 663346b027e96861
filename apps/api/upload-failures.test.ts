import { describe, expect, it } from 'vitest'
import { DependencyError } from '../../core/errors.ts'
import {
  checkWorld,
  createVirtualApi,
  type Intercept,
  never,
  outage,
  type PortCall,
  SETTINGS,
  type VirtualApi,
} from './testing/virtual-api.ts'

const { reservationMs, callMs } = SETTINGS.timing

/** The n-th call to a port meets with `fate`, every other one passes. */
function atCall(n: number, fate: Intercept): Intercept {
  let count = 0
  return (call, effect) => (count++ === n ? fate(call, effect) : effect())
}

/** A client with a key, which tries until it has an answer. */
async function insist(api: VirtualApi, upload = api.upload) {
  for (let tries = 0; tries < 10; tries++) {
    const outcome = await api.until(upload({ key: 'k' }))
    if (outcome.kind === 'accepted' || outcome.kind === 'replayed') return outcome
    await api.pass(outcome.kind === 'in_progress' ? Math.max(1_000, outcome.retryInMs) : 5_000)
  }
  throw new Error('never accepted')
}

describe('an acceptance whose answer is lost', () => {
  const lost = (api: VirtualApi, effectFirst: boolean): Intercept => {
    let once = true
    return async (call, effect) => {
      if (call !== 'accept' || !once) return effect()
      once = false
      if (effectFirst) await effect()
      else api.scheduler.schedule(20_000, effect)
      throw outage()
    }
  }

  it('is found to have happened', async () => {
    const api = createVirtualApi()
    const upload = api.process(lost(api, true))
    expect(await api.until(upload({ key: 'k' }))).toMatchObject({ kind: 'accepted' })
    expect(api.calls.slice(-2)).toEqual(['find', 'onAccepted'])
    checkWorld(api)
  })

  it('is found never to happen where there is a key: the object goes, the key is free', async () => {
    const api = createVirtualApi()
    const upload = api.process(lost(api, false))
    expect(await api.until(upload({ key: 'k' }))).toMatchObject({ kind: 'unavailable', jobId: null })
    expect(api.store.keys()).toEqual([])
    // The acceptance arrives at last, and finds its reservation gone.
    await api.pass(60_000)
    expect(api.tables.jobs.size).toBe(0)
    expect(await api.until(api.upload({ key: 'k' }))).toMatchObject({ kind: 'accepted' })
  })

  it('leaves the object where there is no key, for the job may yet appear', async () => {
    const api = createVirtualApi()
    const upload = api.process(lost(api, false))
    const outcome = await api.until(upload())
    expect(outcome).toMatchObject({ kind: 'unavailable', jobId: expect.stringMatching(/^img_/) })
    expect(api.calls).not.toContain('delete')
    await api.pass(60_000)
    expect(api.tables.jobs.size).toBe(1)
    checkWorld(api)
  })

  it.each([null, 'k'])(
    'that was never sent leaves nothing, and is answered at once, key: %s',
    async (key) => {
      const api = createVirtualApi()
      const upload = api.process(async (call, effect) => {
        if (call === 'accept') throw new DependencyError('database', 'refused', { unsent: true })
        return effect()
      })
      const before = api.clock.now()
      expect(await api.until(upload({ key }))).toMatchObject({ kind: 'unavailable', jobId: null })
      expect(api.clock.now() - before).toBeLessThan(callMs)
      expect(api.store.keys()).toEqual([])
      expect(api.tables.jobs.size + api.tables.idempotencyRecords.size).toBe(0)
    },
  )

  it('leaves the object while the database cannot be asked, and says so in bounded time', async () => {
    const api = createVirtualApi()
    let down = false
    const upload = api.process(async (call, effect) => {
      if (call === 'accept') {
        await effect()
        down = true
      }
      if (down && call !== 'put' && call !== 'delete') throw outage()
      return effect()
    })
    const startedAt = api.clock.now()
    const outcome = await api.until(upload({ key: 'k' }))
    expect(outcome).toMatchObject({ kind: 'unavailable', jobId: expect.stringMatching(/^img_/) })
    expect(api.clock.now() - startedAt).toBeLessThan(5 * callMs)
    expect(api.calls).not.toContain('delete')
    checkWorld(api)
    down = false
    expect(await api.until(api.upload({ key: 'k' }))).toMatchObject({ kind: 'replayed' })
  })

  it('is a defect all the same when the statement itself was wrong', async () => {
    const api = createVirtualApi()
    const upload = api.process((call, effect) =>
      call === 'accept' ? Promise.reject(new Error('no such column')) : effect(),
    )
    await expect(api.until(upload({ key: 'k' }))).rejects.toThrow('no such column')
    expect(api.store.keys()).toEqual([])
    expect(api.tables.idempotencyRecords.size).toBe(0)
  })
})

describe('whatever call it fails at', () => {
  const CALLS: PortCall[] = ['reserve', 'put', 'accept']
  const cases = CALLS.flatMap((call, n) => [
    { call, n, when: 'before' },
    { call, n, when: 'after' },
  ])

  it.each(cases)(
    'a process that dies $when its $call frees its key in time and wedges nothing',
    async ({ n, when }) => {
      const api = createVirtualApi()
      let dead = false
      let count = 0
      const upload = api.process(async (_call, effect) => {
        if (dead) return never()
        if (count++ !== n) return effect()
        dead = true
        if (when === 'after') await effect()
        return never()
      })
      void upload({ key: 'k' })
      await api.pass(0)
      expect(dead).toBe(true)

      // The next process, on the same table and store.
      const startedAt = api.clock.now()
      const outcome = await insist(api)
      expect(api.clock.now() - startedAt).toBeLessThanOrEqual(reservationMs + 1_000)
      expect(api.tables.jobs.size).toBe(1)
      const jobId = outcome.kind === 'accepted' ? outcome.jobId : outcome.job.jobId
      expect(api.tables.jobs.has(jobId)).toBe(true)
      checkWorld(api)
    },
  )

  it.each(cases)(
    'a client that insists after a failure $when the $call gets one job',
    async ({ n, when }) => {
      const api = createVirtualApi()
      const fate: Intercept = async (call, effect) => {
        if (when === 'after') await effect()
        throw call === 'put' ? new DependencyError('object_store', 'no answer') : outage()
      }
      await insist(api, api.process(atCall(n, fate)))
      expect(api.tables.jobs.size).toBe(1)
      checkWorld(api)
      // Nothing that nobody knows of stays behind either.
      expect(api.store.keys()).toEqual([...api.tables.jobs.values()].map(({ objectKey }) => objectKey))
    },
  )
})
