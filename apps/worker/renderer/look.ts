import sharp from 'sharp'
import { PermanentError } from '../../../core/errors.ts'
import { IMAGE_TYPES, type ImageFacts } from '../../../core/image/verdict.ts'
import { tagName } from './cicp.ts'
import type { ColourSource } from './colour.ts'
import { readIcc } from './icc.ts'
import type { Size } from './picture.ts'

/** The decoder's own view of the image, upright: shrinking by another's would distort where the two differ. */
export interface Source extends Size, ColourSource {
  /** What the decoder draws of it: less than all where a GIF's screen is larger than its frames. */
  drawn: Size
  alpha: boolean
  /** The name of what the colours are tagged as, where that is not sRGB and there is no profile. */
  tagged: string | null
  /** Frames or pages. */
  pages: number
  bitDepth: number
  /** One a frame, as the file says; null for what is no animation, or none that is decoded as one. */
  delaysMs: number[] | null
  /** How often the animation plays, 0 for ever; null for a still picture. */
  loop: number | null
  exif: Buffer | undefined
  iptc: Buffer | undefined
  xmp: Buffer | undefined
}

/** Reads the header, and no pixel. */
export async function look(original: Buffer, facts: ImageFacts): Promise<Source> {
  const found = await sharp(original, { failOn: 'none', limitInputPixels: false }).metadata()
  const { autoOrient, format, compression, icc, delay } = found
  if (format === 'heif' && compression !== 'av1') {
    throw new PermanentError(
      'unsupported_type',
      `the image is HEIF of codec ${compression ?? 'unknown'}, not AVIF`,
    )
  }
  if (!INTEGERS.includes(found.depth) && found.space !== 'labs') {
    throw new PermanentError(
      'unsupported_type',
      `the ${IMAGE_TYPES[facts.type].label} has samples of a kind that is not converted here (${found.depth}); the limit is 16 bits, without a sign`,
    )
  }
  const drawn = { width: autoOrient.width, height: autoOrient.height }
  const animated = (found.pages ?? 1) > 1 && (format === 'gif' || format === 'webp')
  return {
    ...(facts.type === 'gif' ? enclosing(facts, drawn) : drawn),
    drawn,
    space: found.space,
    alpha: found.hasAlpha,
    tagged: facts.cicp && !icc ? tagName(facts.cicp) : null,
    pages: found.pages ?? 1,
    bitDepth: found.bitsPerSample ?? (found.depth === 'uchar' ? 8 : 16),
    hasProfile: found.hasProfile,
    profile: icc ? readIcc(icc) : null,
    delaysMs: animated ? (delay ?? Array<number>(found.pages!).fill(0)) : null,
    loop: animated ? (found.loop ?? 0) : null,
    // A TIFF is what EXIF is made of, and its camera stands in its own directory.
    exif: facts.type === 'tiff' ? original : found.exif,
    iptc: found.iptc,
    xmp: found.xmp,
  }
}

/** Of 8 bits or fewer, and of 9 to 16: what is a fraction or signed says nothing about what is white. */
const INTEGERS = ['uchar', 'ushort']

function enclosing(a: Size, b: Size): Size {
  return { width: Math.max(a.width, b.width), height: Math.max(a.height, b.height) }
}
