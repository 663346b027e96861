import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { DependencyError } from '../../../core/errors.ts'
import { DEFAULT_LIMITS } from '../../../core/limits.ts'
import { DEFAULT_PLAN } from '../../../test/job-result.ts'
import { createFrameReader } from './frames.ts'
import { sendOriginal } from './send-original.ts'
import { eventually } from './testing/eventually.ts'
import { PIECE_BYTES, sourceOf } from './testing/source.ts'

const ORIGINAL = Buffer.alloc(10 * PIECE_BYTES, 'original')

/** A pipe whose reader takes a piece whenever `drain` is called. */
function slowPipe() {
  const taken: Buffer[] = []
  let done: ((error?: Error) => void) | null = null
  const pipe = new Writable({
    write(piece, _, callback) {
      taken.push(piece)
      done = callback
    },
  })
  return { pipe, taken, drain: (error?: Error) => done?.(error) }
}

describe('sending an original', () => {
  const never = new AbortController().signal

  it('sends the request and the bytes as one frame', async () => {
    const frames: unknown[] = []
    const read = createFrameReader({ headerBytes: 1_000, bodyBytes: 1e6 }, (...frame) => frames.push(frame))
    const pipe = new Writable({
      write(piece, _, callback) {
        read(piece)
        callback()
      },
    })
    await sendOriginal(pipe, sourceOf(ORIGINAL), DEFAULT_LIMITS, DEFAULT_PLAN, never, () => {})
    await sendOriginal(pipe, sourceOf(Buffer.alloc(0)), DEFAULT_LIMITS, DEFAULT_PLAN, never, () => {})
    expect(frames).toEqual([
      [{ bytes: ORIGINAL.length, limits: DEFAULT_LIMITS, plan: DEFAULT_PLAN }, ORIGINAL],
      [{ bytes: 0, limits: DEFAULT_LIMITS, plan: DEFAULT_PLAN }, Buffer.alloc(0)],
    ])
  })

  it('asks the source for the next piece only when the last has left', async () => {
    const { pipe, taken, drain } = slowPipe()
    const source = sourceOf(ORIGINAL)
    const sending = sendOriginal(pipe, source, DEFAULT_LIMITS, DEFAULT_PLAN, never, () => {})
    for (let pieces = 1; pieces <= 10; pieces++) {
      // The header, then the pieces.
      await eventually(() => taken.length).toBe(pieces)
      expect(source.taken).toBe(Math.max(1, pieces - 1))
      drain()
    }
    await eventually(() => taken.length).toBe(11)
    drain()
    await sending
    expect(source.released).toBe(true)
  })

  it('lets the source go when the pipe breaks', async () => {
    const { pipe, taken, drain } = slowPipe()
    pipe.on('error', () => {})
    const source = sourceOf(ORIGINAL)
    const sending = sendOriginal(pipe, source, DEFAULT_LIMITS, DEFAULT_PLAN, never, () => {})
    await eventually(() => taken.length).toBe(1)
    drain(new Error('EPIPE'))
    await sending
    expect(source).toMatchObject({ taken: 1, released: true })
  })

  it('lets the source go, and sends nothing more, when its job is over', async () => {
    const { pipe, taken } = slowPipe()
    const source = sourceOf(ORIGINAL)
    await sendOriginal(pipe, source, DEFAULT_LIMITS, DEFAULT_PLAN, AbortSignal.abort(), () => {})
    expect(source).toMatchObject({ taken: 1, released: true })
    expect(taken).toEqual([])
  })

  it.each([
    ['more', 10 * PIECE_BYTES - 1, 'more'],
    ['fewer', 10 * PIECE_BYTES + 1, `${10 * PIECE_BYTES}`],
  ])('blames the store for an original of %s bytes than were announced', async (_, bytes, found) => {
    const pipe = new Writable({ write: (_piece, _encoding, callback) => callback() })
    const { body } = sourceOf(ORIGINAL)
    const sending = sendOriginal(pipe, { body, bytes }, DEFAULT_LIMITS, DEFAULT_PLAN, never, () => {})
    await expect(sending).rejects.toThrow(DependencyError)
    await expect(sending).rejects.toThrow(`the original was to have ${bytes} bytes and has ${found}`)
  })
})
