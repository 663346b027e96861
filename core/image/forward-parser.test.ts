import { describe, expect, it } from 'vitest'
import {
  EndOfBytes,
  type ForwardBytes,
  MAX_PARTS,
  type Parsing,
  runForward,
  TooManyParts,
} from './forward-parser.ts'

const bytes = Uint8Array.from({ length: 300 }, (_, i) => i % 251)

function run<T>(parser: (bytes: ForwardBytes) => Parsing<T>, input: Uint8Array, pieceBytes: number): T {
  const forward = runForward(parser)
  for (let at = 0; at < input.length; at += pieceBytes) forward.push(input.subarray(at, at + pieceBytes))
  return forward.end()
}

describe('a forward parser', () => {
  it.each([1, 2, 3, 7, 64, 300])('sees the same pieces and positions in chunks of %i bytes', (pieceBytes) => {
    const seen = run(
      function* (forward) {
        const first = [...(yield* forward.take(3))]
        yield* forward.skip(100)
        const second = [...(yield* forward.take(50))]
        yield* forward.skipPast(200)
        const at = forward.position
        const third = [...(yield* forward.take(1))]
        return { first, second, at, third, fourth: [...(yield* forward.take(2, 40))] }
      },
      bytes,
      pieceBytes,
    )
    expect(seen).toEqual({
      first: [0, 1, 2],
      second: [...bytes.subarray(103, 153)],
      at: 201,
      third: [201],
      fourth: [242, 243],
    })
  })

  it.each([1, 2, 5, 100])('skips sub-blocks to behind the empty one in chunks of %i bytes', (pieceBytes) => {
    const input = Uint8Array.from([3, 0, 0, 0, 1, 9, 2, 0, 0, 0, 77, 5, 5])
    const seen = run(
      function* (forward) {
        yield* forward.skipBlocks()
        return (yield* forward.take(1))[0]
      },
      input,
      pieceBytes,
    )
    expect(seen).toBe(77)
  })

  it('ends with what is missing when the bytes end early, and says where', () => {
    const cut = () =>
      run(
        function* (forward) {
          yield* forward.skip(1_000)
        },
        bytes,
        10,
      )
    expect(cut).toThrow(new EndOfBytes(300))
  })

  it('lets a parser go on without what is missing', () => {
    const seen = run(
      function* (forward) {
        try {
          yield* forward.take(1_000)
        } catch (error) {
          if (error instanceof EndOfBytes) return 'ended'
        }
        return 'went on'
      },
      bytes,
      10,
    )
    expect(seen).toBe('ended')
  })

  it('looks at nothing behind its result', () => {
    const forward = runForward(function* ({ take }) {
      return (yield* take(2))[1]
    })
    expect(forward.done).toBe(false)
    forward.push(bytes)
    expect(forward.done).toBe(true)
    forward.push(bytes)
    expect(forward.end()).toBe(1)
  })

  it('stops a parser that asks without end', () => {
    let asked = 0
    const endless = () =>
      run(
        function* (forward) {
          for (;;) {
            yield* forward.skip(0)
            asked++
          }
        },
        bytes,
        10,
      )
    expect(endless).toThrow(TooManyParts)
    expect(asked).toBeLessThanOrEqual(MAX_PARTS)
  })
})
