import type { Limits } from '../../limits.ts'
import { ascii, startsWith, view } from '../bytes.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { checkAnimation, checkFrames, checkPixels } from '../limit-checks.ts'
import { EXIF_BYTES, exifOrientation, upright } from '../orientation.ts'
import { corrupt, IMAGE_TYPES, type ImageFacts } from '../verdict.ts'

/** WebP: every chunk's head up to the end that the RIFF header tells; what follows is no part of the image. */
export function* parseWebp(bytes: ForwardBytes, limits: Limits): Parsing<ImageFacts> {
  const riffEnd = 8 + view(yield* bytes.take(8)).getUint32(4, true)
  yield* bytes.skip(4)
  const found: Found = { frames: 0, orientation: 1, alpha: false }
  while (bytes.position + CHUNK_HEAD_BYTES <= riffEnd) {
    const head = yield* bytes.take(CHUNK_HEAD_BYTES)
    const type = ascii(head, 0, 4)
    const end = bytes.position + view(head).getUint32(4, true)
    if (end > riffEnd) throw corrupt(`the WebP’s chunk ${JSON.stringify(type)} runs past the file’s end`)
    yield* readChunk(bytes, type, end, found, limits)
    // Chunks are padded to an even length; of the last one some encoders leave the padding out.
    const padded = end + (end % 2)
    if (padded <= riffEnd) yield* bytes.skip(padded - bytes.position)
  }
  const canvas = found.canvas ?? found.image
  if (!canvas || (!found.image && found.frames === 0)) throw corrupt('the WebP holds no image')
  const animated = found.animated === true && found.frames > 0
  return {
    type: 'webp',
    contentType: IMAGE_TYPES.webp.contentType,
    ...upright(canvas.width, canvas.height, found.orientation),
    orientation: found.orientation,
    animated,
    frames: Math.max(1, found.frames),
    ...(animated && { animatedPixels: found.frames * canvas.width * canvas.height }),
    channels: found.alpha ? 4 : 3,
    alpha: found.alpha,
    bitDepth: 8,
  }
}

interface Size {
  width: number
  height: number
}

interface Found {
  /** Of the extended format: what frames are drawn onto. */
  canvas?: Size
  /** Of the first bitstream outside of frames. */
  image?: Size
  animated?: boolean
  frames: number
  orientation: number
  alpha: boolean
}

/** Reads what it wants of the chunk, and skips the rest of it. */
function* readChunk(
  bytes: ForwardBytes,
  type: string,
  end: number,
  found: Found,
  limits: Limits,
): Parsing<void> {
  const length = end - bytes.position
  switch (type) {
    case 'VP8X': {
      if (length < 10) throw corrupt('the WebP’s extended header is too short')
      const header = yield* bytes.take(10)
      found.animated = (header[0]! & ANIMATION_FLAG) !== 0
      found.alpha = (header[0]! & ALPHA_FLAG) !== 0
      found.canvas = { width: 1 + uint24(header, 4), height: 1 + uint24(header, 7) }
      checkPixels('a WebP', found.canvas.width, found.canvas.height, limits)
      break
    }
    case 'VP8 ':
    case 'VP8L': {
      const { alpha, ...size } = yield* readBitstream(bytes, type, length)
      checkPixels('a WebP', size.width, size.height, limits)
      found.image ??= size
      // The extended header decides where there is one.
      if (!found.canvas) found.alpha = alpha
      break
    }
    case 'ANMF': {
      if (length < 16) throw corrupt('the WebP has a frame that is too short')
      const { width, height } = found.canvas ?? { width: 0, height: 0 }
      if (!found.animated || width === 0) throw corrupt('the WebP has frames, and no header that says so')
      found.frames++
      checkFrames(found.frames, `the WebP has at least ${found.frames} frames`, limits)
      checkAnimation(found.frames, width, height, limits)
      const frame = yield* bytes.take(16)
      checkPixels('a WebP frame', 1 + uint24(frame, 6), 1 + uint24(frame, 9), limits)
      break
    }
    case 'EXIF':
      found.orientation = exifOrientation(yield* bytes.take(Math.min(length, EXIF_BYTES)))
      break
  }
  yield* bytes.skip(end - bytes.position)
}

/** The size in the first bytes of a lossy (VP8) or lossless (VP8L) bitstream. */
function* readBitstream(
  bytes: ForwardBytes,
  type: 'VP8 ' | 'VP8L',
  length: number,
): Parsing<Size & { alpha: boolean }> {
  const needed = type === 'VP8 ' ? 10 : 5
  if (length < needed) throw corrupt('the WebP’s image data is too short')
  const start = yield* bytes.take(needed)
  if (type === 'VP8 ') {
    const keyFrame = (start[0]! & 1) === 0
    if (!keyFrame || !startsWith(start, '9d 01 2a', 3))
      throw corrupt('the WebP’s image data is no VP8 key frame')
    const [width, height] = [view(start).getUint16(6, true), view(start).getUint16(8, true)]
    // The upper two bits ask for scaling, which no decoder does.
    return { width: width & 0x3fff, height: height & 0x3fff, alpha: false }
  }
  if (start[0] !== 0x2f) throw corrupt('the WebP’s image data is no VP8L')
  const bits = view(start).getUint32(1, true)
  return {
    width: 1 + (bits & 0x3fff),
    height: 1 + ((bits >>> 14) & 0x3fff),
    alpha: ((bits >>> 28) & 1) === 1,
  }
}

function uint24(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16)
}

const CHUNK_HEAD_BYTES = 8
const ANIMATION_FLAG = 0x02
const ALPHA_FLAG = 0x10
