import { BadDerivative, type Part, slice } from './part.ts'

/** The chunks of a PNG, of which the last one is IEND and ends the file. */
export function* pngParts(png: Buffer): Generator<Part> {
  if (png.toString('hex', 0, 8) !== '89504e470d0a1a0a') throw new BadDerivative('is no PNG')
  let at = 8
  let type = ''
  while (type !== 'IEND') {
    const head = slice(png, at, at + 8)
    type = head.toString('latin1', 4)
    const end = at + 8 + head.readUInt32BE()
    yield { type, data: slice(png, at + 8, end) }
    at = end + 4
  }
  if (at !== png.length) throw new BadDerivative('has bytes behind its chunk IEND')
}
