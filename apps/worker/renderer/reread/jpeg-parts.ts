import { BadDerivative, type Part, slice } from './part.ts'

/** The segments of a JPEG, from its start marker to the end marker that is its last two bytes; types as `FFE1`. */
export function* jpegParts(jpeg: Buffer): Generator<Part> {
  if (jpeg.readUInt16BE(0) !== SOI) throw new BadDerivative('is no JPEG')
  let at = 2
  for (;;) {
    const marker = slice(jpeg, at, at + 2).readUInt16BE()
    if (marker === EOI) break
    const end = at + 2 + slice(jpeg, at + 2, at + 4).readUInt16BE()
    yield { type: marker.toString(16).toUpperCase(), data: slice(jpeg, at + 4, end) }
    at = marker === SOS ? endOfScan(jpeg, end) : end
  }
  if (at + 2 !== jpeg.length) throw new BadDerivative('has bytes behind its end marker')
}

/** A scan's data goes on until a marker that is none of its own: FF 00 is a byte of data, FFD0 to FFD7 restart it. */
function endOfScan(jpeg: Buffer, from: number): number {
  for (let at = jpeg.indexOf(0xff, from); at >= 0; at = jpeg.indexOf(0xff, at + 1)) {
    const code = jpeg[at + 1]
    if (code !== 0 && !(code! >= 0xd0 && code! <= 0xd7)) return at
  }
  return jpeg.length
}

const SOI = 0xffd8
const EOI = 0xffd9
const SOS = 0xffda
