import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { orAborted } from './or-aborted.ts'

describe('orAborted', () => {
  const reason = new Error('enough')

  it('is the promise’s outcome while the signal is quiet', async () => {
    const { signal } = new AbortController()
    expect(await orAborted(Promise.resolve('value'), signal)).toBe('value')
    await expect(orAborted(Promise.reject(reason), signal)).rejects.toBe(reason)
  })

  it('is the signal’s reason for a promise that never settles', async () => {
    const abort = new AbortController()
    const outcome = orAborted(new Promise(() => {}), abort.signal)
    abort.abort(reason)
    await expect(outcome).rejects.toBe(reason)
    await expect(orAborted(new Promise(() => {}), abort.signal)).rejects.toBe(reason)
  })

  it('drops a rejection that comes too late', async () => {
    const late = Promise.withResolvers<never>()
    const outcome = orAborted(late.promise, AbortSignal.abort(reason))
    late.reject(new Error('late'))
    await expect(outcome).rejects.toBe(reason)
  })

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    await orAborted(Promise.resolve(), signal)
    await turn()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
