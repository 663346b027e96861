import { DEFAULT_LIMITS, type Limits } from '../limits.ts'
import { corrupt, ImageRefused, unsupported } from './verdict.ts'

/** Refuses an image without area, and one with more pixels than the limit; `what` has its article. */
export function checkPixels(what: string, width: number, height: number, { maxPixels }: Limits): void {
  if (width === 0 || height === 0) throw corrupt(`${what} of ${width} × ${height} pixels holds no image`)
  const pixels = width * height
  if (pixels > maxPixels) {
    throw new ImageRefused(
      'too_many_pixels',
      `${what} of ${width} × ${height} is ${pixels} pixels; the limit is ${maxPixels}`,
    )
  }
}

/** Refuses what is deeper, or has more channels, than pictures have; `what` with its article. */
export function checkSamples(what: string, channels: number, bitDepth: number | undefined): void {
  if (channels > MAX_CHANNELS) {
    throw unsupported(`${what} of ${channels} channels (the limit is ${MAX_CHANNELS})`)
  }
  if (bitDepth !== undefined && bitDepth > MAX_BIT_DEPTH) {
    throw unsupported(`${what} of ${bitDepth} bits a sample (the limit is ${MAX_BIT_DEPTH})`)
  }
}

/** Four of CMYK, and alpha. */
const MAX_CHANNELS = 5
const MAX_BIT_DEPTH = 16

/** Refuses more frames, or pages, than the limit: `counted` such as "the GIF has at least 1001 frames". */
export function checkFrames(frames: number, counted: string, { maxFrames }: Limits): void {
  if (frames > maxFrames) throw new ImageRefused('too_many_frames', `${counted}; the limit is ${maxFrames}`)
}

/** Refuses an animation that is too much work as a whole although each of its frames is not. Returns its pixels. */
export function checkAnimation(frames: number, width: number, height: number, limits: Limits): number {
  const { maxAnimatedPixels = DEFAULT_LIMITS.maxAnimatedPixels } = limits
  const pixels = frames * width * height
  if (frames > 1 && pixels > maxAnimatedPixels) {
    throw new ImageRefused(
      'too_many_pixels',
      `${frames} frames of ${width} × ${height} are ${pixels} pixels in all; the limit is ${maxAnimatedPixels}`,
    )
  }
  return pixels
}
