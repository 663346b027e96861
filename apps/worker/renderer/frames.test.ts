import { describe, expect, it } from 'vitest'
import { createFrameReader, encodeHeader, type FrameHeader } from './frames.ts'

const LIMITS = { headerBytes: 100, bodyBytes: 100 }

function readAll(pieces: Buffer[]): [header: FrameHeader, body: string][] {
  const frames: [FrameHeader, string][] = []
  const read = createFrameReader(LIMITS, (header, body) => frames.push([header, body.toString()]))
  for (const piece of pieces) read(piece)
  return frames
}

describe('frames', () => {
  const bytes = Buffer.concat([
    encodeHeader({ bytes: 5 }),
    Buffer.from('hello'),
    encodeHeader({ bytes: 0 }),
    encodeHeader({ bytes: 3 }),
    Buffer.from('you'),
  ])

  it('are put together however the pipe cuts them', () => {
    for (let size = 1; size <= bytes.length; size++) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      )
      expect(readAll(pieces)).toEqual([
        [{ bytes: 5 }, 'hello'],
        [{ bytes: 0 }, ''],
        [{ bytes: 3 }, 'you'],
      ])
    }
  })

  it('are there as soon as their last byte is', () => {
    expect(readAll([bytes.subarray(0, -1)])).toHaveLength(2)
    expect(readAll([encodeHeader({ bytes: 0 })])).toHaveLength(1)
  })

  it('keep nothing of the pieces that they came in', () => {
    const piece = Buffer.concat([encodeHeader({ bytes: 5 }), Buffer.from('hello')])
    let body: Uint8Array = Buffer.alloc(0)
    createFrameReader(LIMITS, (_, got) => {
      body = got
    })(piece)
    piece.fill(0)
    expect(Buffer.from(body).toString()).toBe('hello')
  })

  it.each([
    [
      'a longer body than the limit',
      encodeHeader({ bytes: 101 }),
      'a frame’s body has to be 0 to 100 bytes long, not 101',
    ],
    [
      'a longer header than the limit',
      Buffer.from('00000065', 'hex'),
      'a frame’s header has to be 0 to 100 bytes long, not 101',
    ],
    ['a header that is no JSON', Buffer.from('00000001ff', 'hex'), 'JSON'],
    ['a header that says nothing of the body', encodeHeader({} as FrameHeader), 'not undefined'],
    ['a body of less than nothing', encodeHeader({ bytes: -1 }), 'not -1'],
    ['a header that is null', Buffer.from('000000046e756c6c', 'hex'), 'not undefined'],
  ])('are refused with %s', (_, piece, message) => {
    expect(() => readAll([piece])).toThrow(message)
  })
})
