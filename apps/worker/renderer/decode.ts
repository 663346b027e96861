import sharp, { type OutputInfo, type Sharp } from 'sharp'
import { PermanentError } from '../../../core/errors.ts'
import type { ImageFacts } from '../../../core/image/verdict.ts'
import type { Limits } from '../../../core/limits.ts'
import { decodeFailure } from './decode-failure.ts'
import { decodeAsBrowsersDo, type FailOn } from './leniency.ts'

export interface Size {
  width: number
  height: number
}

/** Upright, in sRGB, 8 bits a sample, row by row; a fourth channel is alpha, not multiplied into the others. */
export interface Pixels extends Size {
  data: Buffer
  channels: 3 | 4
}

/**
 * Decodes the image, or the first frame of an animation, and shrinks it to fit into `box` where it is larger.
 * `lenient`: the file was accepted although its decoder complained of it.
 *
 * @throws {PermanentError} when the image is at fault, {@link WorkError} when memory ran out
 */
export async function decode(
  original: Buffer,
  facts: ImageFacts,
  limits: Limits,
  box: Size,
): Promise<{ pixels: Pixels; lenient: boolean }> {
  try {
    const seen = await look(original)
    const canvas = facts.type === 'gif' ? enclosing(facts, seen) : seen
    const scale = Math.min(1, box.width / canvas.width, box.height / canvas.height)
    const whole = scaled(canvas, scale)
    const drawn = scaled(seen, scale)
    const { decoded, lenient } = await decodeAsBrowsersDo(facts.type, original, (bytes, failOn) => {
      const image = open(bytes, failOn, limits).resize({ ...drawn, fit: 'fill' })
      // sharp converts deep colours with a profile to Display P3, and only shallow ones to sRGB.
      if (seen.deepWithProfile) image.withIccProfile('srgb')
      if (whole.width > drawn.width || whole.height > drawn.height) {
        // libvips cuts a GIF's empty screen off, below and to the right of its frames.
        image.extend({
          right: whole.width - drawn.width,
          bottom: whole.height - drawn.height,
          background: CLEAR,
        })
      }
      return image.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true })
    })
    return { pixels: asPixels(decoded.data, decoded.info), lenient }
  } catch (error) {
    throw decodeFailure(error, facts.type)
  }
}

/** The decoder's own view of the image, upright: shrinking by another's would distort where the two differ. */
async function look(original: Buffer): Promise<Size & { deepWithProfile: boolean }> {
  const { autoOrient, space, hasProfile, format, compression } = await sharp(original, {
    failOn: 'none',
    limitInputPixels: false,
  }).metadata()
  if (format === 'heif' && compression !== 'av1') {
    throw new PermanentError(
      'unsupported_type',
      `the image is HEIF of codec ${compression ?? 'unknown'}, not AVIF`,
    )
  }
  return { ...autoOrient, deepWithProfile: space === 'rgb16' && hasProfile === true }
}

function open(bytes: Buffer, failOn: FailOn, { maxPixels }: Limits): Sharp {
  return sharp(bytes, { failOn, limitInputPixels: maxPixels, autoOrient: true })
}

function enclosing(a: Size, b: Size): Size {
  return { width: Math.max(a.width, b.width), height: Math.max(a.height, b.height) }
}

function scaled({ width, height }: Size, scale: number): Size {
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** What a TIFF has of channels beyond alpha is no colour. */
function asPixels(data: Buffer, { width, height, channels }: OutputInfo): Pixels {
  if (channels === 3 || channels === 4) return { data, width, height, channels }
  if (channels < 3) throw new Error(`sRGB of ${channels} channels`)
  const rgba = Buffer.alloc(width * height * 4)
  for (let pixel = 0; pixel < width * height; pixel++) {
    data.copy(rgba, pixel * 4, pixel * channels, pixel * channels + 4)
  }
  return { data: rgba, width, height, channels: 4 }
}

const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 }
