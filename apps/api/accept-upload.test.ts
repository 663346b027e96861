import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makePng } from './testing/png.ts'
import { bodyOf, checkWorld, createVirtualApi, never, PNG, SETTINGS } from './testing/virtual-api.ts'

const { reservationMs, callMs, storeCallMs, uploadMs } = SETTINGS.timing
const SHA256 = createHash('sha256').update(PNG).digest('hex')

describe('an upload', () => {
  it('is accepted after it was stored, and the relay woken after that', async () => {
    const api = createVirtualApi()
    const outcome = await api.until(api.upload({ key: 'k' }))
    expect(api.calls).toEqual(['reserve', 'put', 'accept', 'onAccepted'])
    if (outcome.kind !== 'accepted') throw new Error(outcome.kind)
    expect(api.tables.jobs.get(outcome.jobId)).toMatchObject({
      tenant: 'default',
      objectKey: `originals/${outcome.jobId}`,
      original: { contentType: 'image/png', bytes: PNG.length, sha256: SHA256, width: 2, height: 2 },
      deadlineAt: api.clock.now() + SETTINGS.timing.deadlineMs,
    })
    checkWorld(api)
  })

  it.each([
    ['too long', { bytes: 1_000_001 }, 413],
    ['empty', { bytes: 0 }, 400],
    ['of a type that is no image’s', { declaredType: 'text/plain' }, 415],
  ])(
    'that is %s by its headers is refused before anything is asked or read',
    async (_what, headers, status) => {
      const api = createVirtualApi()
      let begun = false
      const body = (async function* () {
        begun = true
        yield PNG
      })()
      const outcome = await api.until(api.upload({ key: 'k', body, ...headers }))
      expect(outcome).toMatchObject({ kind: 'refused', refusal: { status } })
      expect(api.calls).toEqual([])
      expect(begun).toBe(false)
    },
  )

  it('over the limit is read no further than the limit', async () => {
    const api = createVirtualApi()
    let read = 0
    const body = (async function* () {
      yield makePng({ padding: 500_000 }).subarray(0, 400_000)
      while (true) {
        read += 50_000
        yield Buffer.alloc(50_000, 7)
      }
    })()
    const outcome = await api.until(api.upload({ key: 'k', bytes: null, body }))
    expect(outcome).toMatchObject({ kind: 'refused' })
    expect(read).toBeLessThan(1_000_000)
    expect(api.store.keys()).toEqual([])
    expect(api.tables.idempotencyRecords.size).toBe(0)
  })

  it('holds its key for as long as it is alive, however slow', async () => {
    const api = createVirtualApi()
    const png = makePng({ padding: 90_000 })
    const body = (async function* () {
      for (let at = 0; at < png.length; at += 1_100) {
        await api.clock.sleep(1_000)
        yield png.subarray(at, at + 1_100)
      }
    })()
    const slow = api.upload({ key: 'k', bytes: png.length, body })
    for (let i = 0; i < 6; i++) {
      await api.pass(reservationMs)
      const other = await api.until(api.upload({ key: 'k' }))
      expect(other).toMatchObject({ kind: 'in_progress' })
    }
    expect(await api.until(slow)).toMatchObject({ kind: 'accepted' })
    checkWorld(api)
  })

  it('whose body drips is refused once it had its time, and its key is free', async () => {
    const api = createVirtualApi()
    const png = makePng({ padding: 500_000 })
    const startedAt = api.clock.now()
    const body = (async function* () {
      for (let at = 0; at < png.length; at += 900) {
        await api.clock.sleep(1_000)
        yield png.subarray(at, at + 900)
      }
    })()
    const outcome = await api.until(api.upload({ key: 'k', bytes: null, body }))
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { status: 408, code: 'upload_too_slow' } })
    expect(api.clock.now() - startedAt).toBeLessThan(2 * SETTINGS.idleMs)
    expect(api.tables.idempotencyRecords.size).toBe(0)
    expect(api.store.keys()).toEqual([])
  })

  it('is not too slow while it is the store that keeps the client waiting', async () => {
    const api = createVirtualApi()
    const upload = api.process(async (call, effect) => {
      if (call === 'put') await api.clock.sleep(2 * SETTINGS.idleMs - 10_000)
      return effect()
    })
    expect(await api.until(upload())).toMatchObject({ kind: 'accepted' })
  })

  it('whose client falls silent is refused after the idle time', async () => {
    const api = createVirtualApi()
    const body = (async function* () {
      yield PNG.subarray(0, 10)
      await never()
    })()
    const startedAt = api.clock.now()
    const outcome = await api.until(api.upload({ key: 'k', body }))
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { status: 408, code: 'upload_timeout' } })
    const tookMs = api.clock.now() - startedAt
    expect(tookMs).toBeGreaterThanOrEqual(SETTINGS.idleMs)
    expect(tookMs).toBeLessThanOrEqual(SETTINGS.idleMs * 1.25)
    expect(api.store.keys()).toEqual([])
    expect(api.tables.idempotencyRecords.size).toBe(0)
  })

  it('that drips for longer than an upload may take is refused', async () => {
    const api = createVirtualApi()
    const body = (async function* () {
      yield PNG.subarray(0, 10)
      while (true) {
        await api.clock.sleep(20_000)
        yield Buffer.alloc(0)
      }
    })()
    const startedAt = api.clock.now()
    const outcome = await api.until(api.upload({ body }))
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { status: 408 } })
    expect(api.clock.now() - startedAt).toBeLessThan(uploadMs + SETTINGS.idleMs)
  })

  it('that the store takes no more of is given up, and its key freed', async () => {
    const api = createVirtualApi()
    const upload = api.process((call, effect) => (call === 'put' ? never() : effect()))
    const startedAt = api.clock.now()
    const outcome = await api.until(upload({ key: 'k' }))
    expect(outcome).toMatchObject({ kind: 'unavailable', jobId: null })
    expect(api.clock.now() - startedAt).toBeLessThan(storeCallMs * 1.25 + 3 * callMs)
    expect(api.tables.idempotencyRecords.size).toBe(0)
  })

  it('whose client goes while it is stored leaves nothing, though the store finishes a moment later', async () => {
    const api = createVirtualApi()
    const client = new AbortController()
    const upload = api.process(async (call, effect) => {
      if (call !== 'put') return effect()
      await api.clock.sleep(1_000)
      client.abort()
      await api.clock.sleep(callMs / 2)
      return effect()
    })
    // A store that has the bytes already, and hears of no signal.
    const outcome = await api.until(upload({ key: 'k' }, client.signal))
    expect(outcome).toEqual({ kind: 'aborted' })
    expect(api.store.keys()).toEqual([])
    expect(api.tables.jobs.size).toBe(0)
    expect(api.tables.idempotencyRecords.size).toBe(0)
  })

  it('whose body breaks off leaves nothing', async () => {
    const api = createVirtualApi()
    const body = (async function* () {
      yield PNG.subarray(0, 10)
      throw new Error('ECONNRESET')
    })()
    expect(await api.until(api.upload({ key: 'k', body }))).toEqual({ kind: 'aborted' })
    expect(api.store.keys()).toEqual([])
    expect(api.tables.idempotencyRecords.size).toBe(0)
  })

  it('that lost its key to another upload gives way before the commit', async () => {
    const api = createVirtualApi()
    const upload = api.process(async (call, effect) => {
      if (call !== 'renewReservation') return effect()
      // As if this process had stood still for longer than its lease.
      for (const record of api.tables.idempotencyRecords.values()) record.token = 'another'
      return effect()
    })
    const body = (async function* () {
      yield PNG.subarray(0, 10)
      await api.clock.sleep(reservationMs)
      yield PNG.subarray(10)
    })()
    expect(await api.until(upload({ key: 'k', body }))).toMatchObject({ kind: 'in_progress' })
    expect(api.calls).not.toContain('accept')
    expect(api.store.keys()).toEqual([])
    expect(api.tables.idempotencyRecords.size).toBe(1)
  })

  it('that lost its key without knowing is not accepted, and its object deleted', async () => {
    const api = createVirtualApi()
    const upload = api.process(async (call, effect) => {
      if (call === 'accept')
        for (const record of api.tables.idempotencyRecords.values()) record.token = 'another'
      return effect()
    })
    expect(await api.until(upload({ key: 'k' }))).toMatchObject({ kind: 'in_progress' })
    expect(api.store.keys()).toEqual([])
    expect(api.tables.jobs.size).toBe(0)
  })
})

describe('a known key', () => {
  it('has its body hashed and stored nowhere', async () => {
    const api = createVirtualApi()
    await api.until(api.upload({ key: 'k' }))
    api.calls.length = 0
    const replayed = await api.until(
      api.upload({ key: 'k', bytes: null, body: bodyOf(...[...PNG].map((byte) => Buffer.from([byte]))) }),
    )
    expect(replayed).toMatchObject({ kind: 'replayed', job: { status: 'QUEUED' } })
    expect(api.calls).toEqual(['reserve', 'find'])
  })

  it('stands for one request only, whatever its job has become', async () => {
    const api = createVirtualApi()
    const first = await api.until(api.upload({ key: 'k' }))
    if (first.kind !== 'accepted') throw new Error(first.kind)
    await api.jobs.bury(first.jobId)
    expect(
      await api.until(api.upload({ key: 'k', bytes: null, body: bodyOf(makePng({ colour: 3 })) })),
    ).toEqual({
      kind: 'key_conflict',
    })
    expect(await api.until(api.upload({ key: 'k' }))).toMatchObject({
      kind: 'replayed',
      job: { jobId: first.jobId, status: 'FAILED' },
    })
  })

  it('is another tenant’s own', async () => {
    const api = createVirtualApi()
    const [one, other] = [
      await api.until(api.upload({ key: 'k' })),
      await api.until(
        api.upload({ key: 'k', tenant: 'other', bytes: null, body: bodyOf(makePng({ colour: 3 })) }),
      ),
    ]
    expect([one.kind, other.kind]).toEqual(['accepted', 'accepted'])
    expect(api.tables.jobs.size).toBe(2)
  })
})
