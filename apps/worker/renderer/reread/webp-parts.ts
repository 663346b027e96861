import { BadDerivative, type Part, slice } from './part.ts'

/** The chunks of a WebP, those inside of a frame behind it; their types as `ANMF` and `ANMF/VP8 `. */
export function* webpParts(webp: Buffer): Generator<Part> {
  const head = slice(webp, 0, 12).toString('latin1')
  if (!/^RIFF....WEBP$/s.test(head)) throw new BadDerivative('is no WebP')
  if (webp.readUInt32LE(4) + 8 !== webp.length) throw new BadDerivative('has bytes behind its end')
  for (const part of chunks(webp.subarray(12))) {
    yield part
    if (part.type !== 'ANMF') continue
    for (const { type, data } of chunks(part.data.subarray(FRAME_HEAD_BYTES))) {
      yield { type: `ANMF/${type}`, data }
    }
  }
}

function* chunks(bytes: Buffer): Generator<Part> {
  for (let at = 0; at < bytes.length; ) {
    const head = slice(bytes, at, at + 8)
    const end = at + 8 + head.readUInt32LE(4)
    yield { type: head.toString('latin1', 0, 4), data: slice(bytes, at + 8, end) }
    at = end + (end % 2)
  }
}

export const FRAME_HEAD_BYTES = 16
