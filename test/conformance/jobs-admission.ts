import { expect, it } from 'vitest'
import { DEFAULT_PRESET, type Preset } from '../../core/preset.ts'
import { type Bench, NOTHING, newJob } from './jobs.ts'

export function admissionRules({ jobs, age, look, accepted, found, claim }: Bench): void {
  const reservation = (token: string, key = 'key', tenant = 'default') => ({ tenant, key, token })
  const reserve = (token: string, key?: string, tenant?: string) =>
    jobs().reserve({ ...reservation(token, key, tenant), leaseMs: 10_000 })
  const accept = (jobId: string, token: string) =>
    jobs().accept({ ...newJob(jobId), idempotency: { key: 'key', token, fingerprint: 'print' } })

  it('reserves a key that nobody holds', async () => {
    expect(await reserve('a')).toEqual({ kind: 'reserved' })
  })

  it('tells a second upload how long the key is held', async () => {
    await reserve('a')
    const outcome = await reserve('b')
    expect(outcome).toMatchObject({ kind: 'in_progress' })
    const { retryInMs } = outcome as { retryInMs: number }
    expect(retryInMs).toBeGreaterThan(5_000)
    expect(retryInMs).toBeLessThanOrEqual(10_000)
  })

  it('keeps keys and tenants apart', async () => {
    await reserve('a')
    expect(await reserve('b', 'other')).toEqual({ kind: 'reserved' })
    expect(await reserve('c', 'key', 'another')).toEqual({ kind: 'reserved' })
  })

  it('gives a key whose holder’s lease ran out to the next upload, and not back', async () => {
    await reserve('a')
    await age(11_000)
    expect(await reserve('b')).toEqual({ kind: 'reserved' })
    expect(await jobs().renewReservation({ ...reservation('a'), leaseMs: 10_000 })).toBe(false)
    expect(await accept('img_a', 'a')).toEqual({ kind: 'reservation_lost' })
    expect(await accept('img_b', 'b')).toMatchObject({ kind: 'accepted' })
  })

  it('renews a reservation, so that it outlives its first lease', async () => {
    await reserve('a')
    await age(8_000)
    expect(await jobs().renewReservation({ ...reservation('a'), leaseMs: 10_000 })).toBe(true)
    await age(8_000)
    expect(await reserve('b')).toMatchObject({ kind: 'in_progress' })
  })

  it('renews a reservation that ran out while nobody wanted the key', async () => {
    await reserve('a')
    await age(60_000)
    expect(await jobs().renewReservation({ ...reservation('a'), leaseMs: 10_000 })).toBe(true)
    expect(await reserve('b')).toMatchObject({ kind: 'in_progress' })
  })

  it('frees a released key at once, after which its upload can no longer be accepted', async () => {
    await reserve('a')
    await jobs().releaseReservation(reservation('a'))
    expect(await accept('img_a', 'a')).toEqual({ kind: 'reservation_lost' })
    expect(await jobs().find('img_a')).toBeNull()
    expect(await reserve('b')).toEqual({ kind: 'reserved' })
  })

  it('does not release a key for a token that does not hold it', async () => {
    await reserve('a')
    await jobs().releaseReservation(reservation('b'))
    expect(await accept('img_a', 'a')).toMatchObject({ kind: 'accepted' })
  })

  it('does not free a key whose job was accepted', async () => {
    await reserve('a')
    await accept('img_a', 'a')
    await jobs().releaseReservation(reservation('a'))
    expect(await reserve('b')).toEqual({ kind: 'accepted', jobId: 'img_a', fingerprint: 'print' })
    expect(await jobs().renewReservation({ ...reservation('a'), leaseMs: 10_000 })).toBe(false)
  })

  it('answers with the accepted job however old the reservation’s lease is', async () => {
    await reserve('a')
    await accept('img_a', 'a')
    await age(3_600_000)
    expect(await reserve('b')).toEqual({ kind: 'accepted', jobId: 'img_a', fingerprint: 'print' })
  })

  it('inserts job, outbox row and event together', async () => {
    const jobId = await accepted()
    expect(await look(jobId)).toEqual({
      events: ['accepted'],
      outboxRows: 1,
      markers: [],
      deadLetters: [],
      callbacks: [],
    })
  })

  it('inserts a job that is QUEUED, due, and as it was given', async () => {
    const jobId = await accepted()
    const { original, warnings, objectKey } = newJob(jobId)
    expect(await found(jobId)).toMatchObject({
      jobId,
      tenant: 'default',
      status: 'QUEUED',
      attempts: 0,
      generation: 1,
      objectKey,
      original,
      warnings,
      outputs: null,
      error: null,
      lastError: null,
      publishedAt: null,
      held: false,
      claimableInMs: 0,
      finishedAt: null,
      deletedAt: null,
    })
  })

  it('inserts nothing at all without the reservation', async () => {
    await reserve('a')
    expect(await accept('img_b', 'b')).toEqual({ kind: 'reservation_lost' })
    expect(await jobs().find('img_b')).toBeNull()
    expect(await look('img_b')).toEqual(NOTHING)
  })

  it('accepts one job a reservation: a repeated accept inserts nothing', async () => {
    await reserve('a')
    expect(await accept('img_a', 'a')).toMatchObject({ kind: 'accepted' })
    expect(await accept('img_b', 'a')).toEqual({ kind: 'reservation_lost' })
    expect(await jobs().find('img_b')).toBeNull()
  })

  it('sets the deadline from the acceptance on', async () => {
    const jobId = await accepted({ deadlineMs: 60_000 })
    const { createdAt, deadlineAt } = await found(jobId)
    expect(deadlineAt.getTime() - createdAt.getTime()).toBe(60_000)
    await age(61_000)
    expect(await claim(jobId)).toEqual({ kind: 'finished' })
  })

  it('finds no job under an unknown id', async () => {
    expect(await jobs().find('img_unknown')).toBeNull()
  })

  it('answers a ping', async () => {
    await expect(jobs().ping()).resolves.toBeUndefined()
  })

  it('keeps what the request asked for, whole, and gives it with the claim', async () => {
    const plan: Preset = {
      outputs: [
        {
          ...DEFAULT_PRESET.outputs[0]!,
          name: 'small',
          position: { x: 0.25, y: 1 },
          fit: 'cover',
          quality: 71,
        },
        { ...DEFAULT_PRESET.outputs[0]!, name: 'large', width: null, format: 'auto', avif: true },
      ],
      linear: true,
      keepCopyright: true,
    }
    const options = { preset: 'product', plan, strict: true }
    const jobId = await accepted({ options })
    expect((await found(jobId)).options).toEqual(options)
    expect(await claim(jobId)).toMatchObject({ kind: 'claimed', job: { options } })
  })
}
