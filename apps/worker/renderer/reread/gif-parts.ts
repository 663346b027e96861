import { BadDerivative, type Part, slice } from './part.ts'

/** The blocks of a GIF: `image`, and extensions by their label as `F9`; the trailer is the last byte of the file. */
export function* gifParts(gif: Buffer): Generator<Part> {
  if (!/^GIF8[79]a/.test(slice(gif, 0, 13).toString('latin1'))) throw new BadDerivative('is no GIF')
  let at = 13 + colourTableBytes(gif[10]!)
  for (;;) {
    const introducer = slice(gif, at, at + 1)[0]
    if (introducer === TRAILER) break
    if (introducer === EXTENSION) {
      const label = slice(gif, at + 1, at + 2)[0]!
      const end = endOfBlocks(gif, at + 2)
      yield { type: label.toString(16).toUpperCase(), data: gif.subarray(at + 2, end) }
      at = end
    } else if (introducer === IMAGE) {
      const head = slice(gif, at + 1, at + 10)
      yield { type: 'image', data: head }
      at = endOfBlocks(gif, at + 10 + colourTableBytes(head[8]!) + 1)
    } else {
      throw new BadDerivative('has no block where one should be')
    }
  }
  if (at + 1 !== gif.length) throw new BadDerivative('has bytes behind its trailer')
}

/** The position behind the sub-block of length 0. */
function endOfBlocks(gif: Buffer, from: number): number {
  let at = from
  while (slice(gif, at, at + 1)[0] !== 0) at += 1 + gif[at]!
  return at + 1
}

function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

const EXTENSION = 0x21
const IMAGE = 0x2c
const TRAILER = 0x3b
