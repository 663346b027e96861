import type { Limits } from '../../limits.ts'
import { shownDelayMs } from '../animation-delay.ts'
import { ascii, startsWith, view } from '../bytes.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { checkAnimation, checkFrames, checkPixels } from '../limit-checks.ts'
import { EXIF_BYTES, exifOrientation, upright } from '../orientation.ts'
import { corrupt, IMAGE_TYPES, type ImageFacts, unsupported } from '../verdict.ts'

/** PNG: every chunk's head up to IEND, so that a file cut off is told; only the header's checksum is compared. */
export function* parsePng(bytes: ForwardBytes, limits: Limits): Parsing<ImageFacts> {
  if (!startsWith(yield* bytes.take(8), '89 50 4e 47 0d 0a 1a 0a')) {
    throw corrupt('the PNG’s signature is damaged, as by a transfer that changes line ends')
  }
  const header = yield* readHeader(bytes)
  checkPixels('a PNG', header.width, header.height, limits)
  const found: Found = { imageData: false, durationMs: 0 }
  let rest = 0
  for (;;) {
    const { type, length } = yield* readChunkHead(bytes, rest)
    if (type === 'IEND') break
    // What comes behind the image data says nothing to a decoder that has begun to show it, but for the later frames.
    const wanted = found.imageData && type !== 'fcTL' ? 0 : wantedBytes(type, length)
    if (wanted > 0 || !found.imageData) note(found, type, wanted > 0 ? yield* bytes.take(wanted) : NOTHING)
    if (found.imageData && header.palette && !found.palette) throw corrupt('the PNG’s palette is missing')
    if (type === 'acTL' && found.frames) {
      checkFrames(found.frames, `the PNG has ${found.frames} frames`, limits)
      checkAnimation(found.frames, header.width, header.height, limits)
    }
    rest = length - wanted + CRC_BYTES
  }
  if (!found.imageData) throw corrupt('the PNG has no image data')
  return factsOf(header, found)
}

/** What the chunks up to the first image data said. */
interface Found {
  imageData: boolean
  palette?: boolean
  transparentColour?: boolean
  orientation?: number
  cicp?: { primaries: number; transfer: number }
  /** Of the animation; a still PNG has none, and one that declares 0 is still. */
  frames?: number
  plays?: number
  durationMs: number
  /** A frame's control chunk before the image data makes these the first frame. */
  imageDataIsFrame?: boolean
}

function wantedBytes(type: string, length: number): number {
  if (type === 'eXIf') return Math.min(length, EXIF_BYTES)
  if (
    (type === 'acTL' && length === 8) ||
    (type === 'fcTL' && length === 26) ||
    (type === 'cICP' && length === 4)
  )
    return length
  return 0
}

function note(found: Found, type: string, data: Uint8Array): void {
  switch (type) {
    case 'IDAT':
      found.imageData = true
      break
    case 'PLTE':
      found.palette = true
      break
    case 'tRNS':
      found.transparentColour = true
      break
    case 'fcTL':
      if (!found.imageData) found.imageDataIsFrame = true
      if (data.length === 26) found.durationMs += delayMs(data)
      break
    case 'eXIf':
      found.orientation ??= exifOrientation(data)
      break
    case 'cICP':
      if (data.length === 4) found.cicp ??= { primaries: data[0]!, transfer: data[1]! }
      break
    case 'acTL':
      if (data.length === 8) {
        found.frames ??= view(data).getUint32(0)
        found.plays ??= view(data).getUint32(4)
      }
  }
}

/** A fraction of a second, of hundredths where its denominator is 0. */
function delayMs(frameControl: Uint8Array): number {
  const [delay, fraction] = [view(frameControl).getUint16(20), view(frameControl).getUint16(22)]
  return shownDelayMs((1_000 * delay) / (fraction || 100))
}

function factsOf(header: Header, found: Found): ImageFacts {
  const { orientation = 1, transparentColour = false, frames = 0, cicp, imageDataIsFrame } = found
  const animated = frames > 0
  return {
    type: 'png',
    contentType: IMAGE_TYPES.png.contentType,
    ...upright(header.width, header.height, orientation),
    orientation,
    animated,
    frames: Math.max(1, frames),
    ...(animated && {
      animatedPixels: frames * header.width * header.height,
      durationMs: Math.round(found.durationMs),
      loop: found.plays ?? 0,
    }),
    channels: header.channels + (transparentColour && !header.alpha ? 1 : 0),
    alpha: header.alpha || transparentColour,
    bitDepth: header.bitDepth,
    ...(cicp && { cicp }),
    ...(animated && !imageDataIsFrame && { defaultImageOutsideAnimation: true }),
  }
}

interface Header {
  width: number
  height: number
  bitDepth: number
  channels: number
  alpha: boolean
  palette: boolean
}

function* readHeader(bytes: ForwardBytes): Parsing<Header> {
  const chunk = yield* bytes.take(25)
  const numbers = view(chunk)
  const type = ascii(chunk, 4, 8)
  if (type === 'CgBI') throw unsupported('a PNG in the private form of iOS apps (CgBI)')
  if (type !== 'IHDR' || numbers.getUint32(0) !== 13) throw corrupt('the PNG does not begin with its header')
  if (numbers.getUint32(21) !== crc32(chunk.subarray(4, 21))) {
    throw corrupt('the PNG’s header is damaged: its checksum is another')
  }
  const width = numbers.getUint32(8)
  const height = numbers.getUint32(12)
  const [bitDepth, colourType, compression, filter, interlace] = chunk.subarray(16, 21) as unknown as number[]
  const colour = COLOUR_TYPES[colourType!]
  const valid = colour?.bitDepths.includes(bitDepth!) && compression === 0 && filter === 0 && interlace! <= 1
  if (!valid || width > MAX_UINT31 || height > MAX_UINT31) {
    throw corrupt(
      `the PNG’s header is none: ${width} × ${height}, bit depth ${bitDepth}, colour type ${colourType}, ` +
        `compression ${compression}, filter ${filter}, interlace ${interlace}`,
    )
  }
  const { channels, alpha } = colour!
  return { width, height, bitDepth: bitDepth!, channels, alpha, palette: colourType === 3 }
}

/** @param after what is left of the chunk before, to be skipped */
function* readChunkHead(bytes: ForwardBytes, after: number): Parsing<{ type: string; length: number }> {
  const head = yield* bytes.take(8, after)
  // By hand, because a file may have tens of thousands of them: views and patterns take three times as long.
  const length = ((head[0]! << 24) | (head[1]! << 16) | (head[2]! << 8) | head[3]!) >>> 0
  if (
    length > MAX_UINT31 ||
    !(isLetter(head[4]!) && isLetter(head[5]!) && isLetter(head[6]!) && isLetter(head[7]!))
  ) {
    throw corrupt(`the PNG has no chunk where one should be, ${bytes.position - 8} bytes after its beginning`)
  }
  return { type: String.fromCharCode(head[4]!, head[5]!, head[6]!, head[7]!), length }
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** CRC-32 as PNG has it (ISO 3309). Bit by bit, because it is computed over 17 bytes only. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const NOTHING = new Uint8Array(0)
const CRC_BYTES = 4
const MAX_UINT31 = 2 ** 31 - 1

const COLOUR_TYPES: Record<number, { bitDepths: number[]; channels: number; alpha: boolean }> = {
  0: { bitDepths: [1, 2, 4, 8, 16], channels: 1, alpha: false },
  2: { bitDepths: [8, 16], channels: 3, alpha: false },
  3: { bitDepths: [1, 2, 4, 8], channels: 3, alpha: false },
  4: { bitDepths: [8, 16], channels: 2, alpha: true },
  6: { bitDepths: [8, 16], channels: 4, alpha: true },
}
