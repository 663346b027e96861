import { createInspector } from '../../../../core/image/inspector.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../../core/limits.ts'
import type { OutputFormat } from '../../../../core/preset.ts'
import { avifParts } from './avif-parts.ts'
import { checkExif } from './check-exif.ts'
import { gifParts } from './gif-parts.ts'
import { jpegParts } from './jpeg-parts.ts'
import { BadDerivative, type Part } from './part.ts'
import { pngParts } from './png-parts.ts'
import { webpParts } from './webp-parts.ts'

/** What a derivative's own bytes say of it. */
export interface Reread {
  width: number
  height: number
  frames: number
  /** Of one turn of the animation; null for a still picture. */
  durationMs: number | null
}

/**
 * Reads an encoded derivative part by part. Whatever is not known to be needed for its pixels is refused, and with that
 * places, camera data, thumbnails, XMP, comments, colour profiles, and bytes behind the end: what nobody thought of cannot
 * leak.
 *
 * @param rights whether EXIF with a copyright notice may be there, and nothing else in it
 * @throws {BadDerivative}
 */
export function reread(body: Buffer, format: OutputFormat, rights: boolean): Reread {
  const { parts, pixels, exif } = FORMATS[format]
  let delays = 0
  let frames = 0
  for (const part of parts(body)) {
    if (part.type === exif && rights) checkExif(part.data)
    else if (!pixels.test(part.type)) throw new BadDerivative(`has the part ${JSON.stringify(part.type)}`)
    checkPart(format, part)
    if (part.type === FRAME[format]) frames++
    delays += delayMs(format, part)
  }
  const { width, height } = sizeOf(body, format)
  return { width, height, frames: Math.max(1, frames), durationMs: frames > 1 ? delays : null }
}

interface Format {
  parts(body: Buffer): Iterable<Part>
  /** The parts that a picture needs. */
  pixels: RegExp
  /** Where EXIF stands. */
  exif?: string
}

const FORMATS: Record<OutputFormat, Format> = {
  // Tables, frame headers of baseline and progressive JPEG, restart intervals and scans.
  jpeg: { parts: jpegParts, pixels: /^FF(DB|C0|C2|C4|DD|DA)$/, exif: 'FFE1' },
  png: { parts: pngParts, pixels: /^(IHDR|PLTE|tRNS|pHYs|IDAT|IEND)$/, exif: 'eXIf' },
  webp: { parts: webpParts, pixels: /^(VP8X|ANIM|ANMF|(ANMF\/)?(ALPH|VP8[ L]))$/, exif: 'EXIF' },
  gif: { parts: gifParts, pixels: /^(F9|FF|image)$/ },
  avif: {
    parts: avifParts,
    pixels:
      /^(ftyp|mdat|item\/av01|meta(\/(hdlr|pitm|iloc|iinf(\/infe)?|iref|iprp(\/(ipma|ipco(\/(av1C|ispe|pixi|auxC|colr))?))?))?)$/,
    exif: 'item/Exif',
  },
}

/** Parts of which some kinds only are what they are to be. */
function checkPart(format: OutputFormat, { type, data }: Part): void {
  if (format === 'gif' && type === 'FF' && data.toString('latin1', 1, 12) !== 'NETSCAPE2.0') {
    throw new BadDerivative('has another GIF application block than the one of loops')
  }
  if (format === 'avif' && type.endsWith('/colr') && data.toString('latin1', 0, 4) !== 'nclx') {
    throw new BadDerivative('has a colour profile')
  }
}

const FRAME: Partial<Record<OutputFormat, string>> = { webp: 'ANMF', gif: 'image' }

function delayMs(format: OutputFormat, { type, data }: Part): number {
  if (format === 'webp' && type === 'ANMF') return data.readUIntLE(12, 3)
  if (format === 'gif' && type === 'F9') return 10 * data.readUInt16LE(2)
  return 0
}

/** As the verdict on any upload sees it. */
function sizeOf(body: Buffer, format: OutputFormat): { width: number; height: number } {
  const inspector = createInspector(UNLIMITED)
  const verdict = inspector.push(body) ?? inspector.end()
  if (!verdict.ok) throw new BadDerivative(`would be refused: ${verdict.message}`)
  if (verdict.facts.type !== format) throw new BadDerivative(`is no ${format}`)
  return verdict.facts
}

/** Derivatives keep to limits of their own. */
const UNLIMITED: Limits = {
  ...DEFAULT_LIMITS,
  maxPixels: Infinity,
  maxFrames: Infinity,
  maxAnimatedPixels: Infinity,
}
