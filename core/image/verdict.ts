import type { PermanentCode } from '../errors.ts'
import { type Fault, faultOf } from './fault.ts'

/** The image types that are accepted, and what each is called in HTTP and in sentences. */
export const IMAGE_TYPES = {
  jpeg: { contentType: 'image/jpeg', label: 'JPEG' },
  png: { contentType: 'image/png', label: 'PNG' },
  webp: { contentType: 'image/webp', label: 'WebP' },
  gif: { contentType: 'image/gif', label: 'GIF' },
  avif: { contentType: 'image/avif', label: 'AVIF' },
  tiff: { contentType: 'image/tiff', label: 'TIFF' },
  /** Only where an operator has turned it on. */
  svg: { contentType: 'image/svg+xml', label: 'SVG' },
} as const

export type ImageType = keyof typeof IMAGE_TYPES

/** What one forward pass over the bytes shows, without decoding. What it cannot show is absent. */
export interface ImageFacts {
  type: ImageType
  contentType: string
  /** In pixels, as the image is seen: after its orientation and crop. Of the whole canvas where there are frames. */
  width: number
  height: number
  /** The EXIF, TIFF or PNG orientation, 1–8, that {@link width} and {@link height} already follow; 1 when it is
   * missing or invalid. AVIF has none: its transforms are part of the image. */
  orientation: number
  animated: boolean
  /** Frames of an animation, pages of a TIFF; 1 for a still image. Absent for a TIFF whose later pages lie behind. */
  frames?: number
  /** Width × height × frames; only where {@link animated}, and not for AVIF, of which only the still is read. */
  animatedPixels?: number
  /** Of the colours and the alpha together: 1–5. A palette counts as the colours that it holds. */
  channels?: number
  /** Of one turn of the animation as browsers show it, in milliseconds. Only of an APNG, which no decoder here knows. */
  durationMs?: number
  /** How often an APNG plays; 0 for ever. */
  loop?: number
  /** Whether the image says that it may be transparent somewhere. */
  alpha?: boolean
  /** Bits of one sample as stored, of one index where there is a palette. */
  bitDepth?: number
  /** Code points of ITU-T H.273 from a PNG's cICP or an AVIF's nclx: transfer 16 is PQ, 18 is HLG. */
  cicp?: { primaries: number; transfer: number }
  /** It has a gain map: a second image, from which an HDR screen makes more of the first. */
  gainMap?: true
  /** An APNG whose default image, which decoders without APNG show, is no frame of the animation. */
  defaultImageOutsideAnimation?: true
}

export type RefusalCode = Exclude<PermanentCode, 'original_missing' | 'not_strict'> | 'empty_body'

/** Why the bytes are not accepted, whoever sends them again. */
export interface Refusal {
  ok: false
  /** For HTTP: 400 no bytes, 415 another type than those accepted, 422 a broken file or one over a limit. */
  status: 400 | 415 | 422
  code: RefusalCode
  fault: Fault
  /** A sentence without a full stop: what was found, or the limit and the value. */
  message: string
}

export type Verdict = { ok: true; facts: ImageFacts } | Refusal

/** Thrown by what reads the bytes below `core/image`; the inspector returns its refusal instead. */
export class ImageRefused extends Error {
  readonly refusal: Refusal

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.name = 'ImageRefused'
    this.refusal = { ok: false, status: STATUS[code], code, fault: faultOf(code), message }
  }
}

/** For a type, or a variety of an accepted type, that is not decoded here: `what` with its article. */
export function unsupported(what: string): ImageRefused {
  const labels = Object.values(IMAGE_TYPES).flatMap(({ label }) => (label === 'SVG' ? [] : [label]))
  return new ImageRefused(
    'unsupported_type',
    `the body is ${what}; accepted are ${labels.slice(0, -1).join(', ')} and ${labels.at(-1)}`,
  )
}

export function corrupt(message: string): ImageRefused {
  return new ImageRefused('corrupt', message)
}

const STATUS: Record<RefusalCode, Refusal['status']> = {
  empty_body: 400,
  unsupported_type: 415,
  corrupt: 422,
  truncated: 422,
  too_many_pixels: 422,
  too_many_frames: 422,
}
