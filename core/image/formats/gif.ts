import type { Limits } from '../../limits.ts'
import { view } from '../bytes.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { checkAnimation, checkFrames, checkPixels } from '../limit-checks.ts'
import { corrupt, IMAGE_TYPES, type ImageFacts } from '../verdict.ts'

/** GIF: every block up to the trailer, because nothing but the blocks themselves tells how many frames there are. */
export function* parseGif(bytes: ForwardBytes, limits: Limits): Parsing<ImageFacts> {
  const screen = yield* bytes.take(13)
  let width = view(screen).getUint16(6, true)
  let height = view(screen).getUint16(8, true)
  yield* bytes.skip(colourTableBytes(screen[10]!))
  let frames = 0
  let alpha = false
  for (;;) {
    const introducer = (yield* bytes.take(1))[0]!
    if (introducer === EXTENSION) {
      const label = (yield* bytes.take(1))[0]!
      if (label === GRAPHIC_CONTROL) {
        // The block's length and its flags; a length of 0 ends the blocks, and is no flags.
        const length = (yield* bytes.take(1))[0]!
        if (length === 0) continue
        const flags = (yield* bytes.take(1))[0]!
        alpha ||= (flags & TRANSPARENT_FLAG) !== 0
        yield* bytes.skip(length - 1)
      }
      yield* bytes.skipBlocks()
    } else if (introducer === IMAGE) {
      const frame = yield* bytes.take(9)
      const [frameWidth, frameHeight] = [view(frame).getUint16(4, true), view(frame).getUint16(6, true)]
      const colourTable = colourTableBytes(frame[8]!)
      if (frames === 0) {
        // Browsers enlarge a screen that does not hold its first frame; some files have no screen at all.
        width = Math.max(width, frameWidth)
        height = Math.max(height, frameHeight)
        checkPixels('a GIF', width, height, limits)
      }
      frames++
      checkPixels('a GIF frame', frameWidth, frameHeight, limits)
      checkFrames(frames, `the GIF has at least ${frames} frames`, limits)
      checkAnimation(frames, width, height, limits)
      yield* bytes.skip(colourTable)
      const codeSize = (yield* bytes.take(1))[0]!
      if (codeSize > MOST_CODE_BITS) throw corrupt(`the GIF has a frame with codes of ${codeSize} bits`)
      yield* bytes.skipBlocks()
    } else if (introducer === TRAILER || frames > 0) {
      // Browsers take anything that is no block for the end, once there is something to show.
      break
    } else {
      throw corrupt(
        `the GIF has no block where one should be, ${bytes.position - 1} bytes after its beginning`,
      )
    }
  }
  if (frames === 0) throw corrupt('the GIF holds no image')
  return {
    type: 'gif',
    contentType: IMAGE_TYPES.gif.contentType,
    width,
    height,
    orientation: 1,
    animated: frames > 1,
    frames,
    ...(frames > 1 && { animatedPixels: frames * width * height }),
    channels: alpha ? 4 : 3,
    alpha,
    bitDepth: 8,
  }
}

function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

const EXTENSION = 0x21
const GRAPHIC_CONTROL = 0xf9
const TRANSPARENT_FLAG = 1
const IMAGE = 0x2c
const TRAILER = 0x3b
/** Codes have 12 bits at most, and the first ones are one longer than this. */
const MOST_CODE_BITS = 11
