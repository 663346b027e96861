import type { ImageWarning } from '../image/warnings.ts'
import type { OutputFormat, Preset } from '../preset.ts'

/**
 * Makes the outputs of one image. It reads the source once, holds no network connection, and may be killed at any
 * moment: by `signal`, by its memory limit, or by the image itself.
 *
 * Rejects with a {@link PermanentError} when the image is at fault, a {@link WorkError} when the rendering process
 * crashed or was killed, and with the signal's reason when `signal` aborted.
 */
export interface Renderer {
  /** What decides an output's bytes besides its input and its preset, such as `sharp-0.35.5_vips-8.18.7`. */
  readonly engine: string
  render(source: RenderSource, plan: RenderPlan, signal: AbortSignal): Promise<Rendering>
}

export interface RenderSource {
  /** The original's bytes, streamed. An error that it throws is passed on unchanged. */
  body: AsyncIterable<Uint8Array>
  /** How many there are. */
  bytes: number
}

export interface RenderPlan {
  preset: Preset
  /** Refuse what can only be decoded leniently (`not_strict`). */
  strict: boolean
  /** Whether {@link SourceFacts.gps} is filled in. Outputs never have it. */
  exposeGps: boolean
}

export interface Rendering {
  /** In the plan's order; an `auto` output's variants stand together. */
  outputs: RenderedOutput[]
  warnings: ImageWarning[]
  facts: SourceFacts
  cost: RenderCost
}

/** One stored variant of an output. Unique by name and format within the rendering. */
export interface RenderedOutput {
  /** The plan's. Several variants of an `auto` output have it in common. */
  name: string
  format: OutputFormat
  contentType: string
  /** Of one frame. */
  width: number
  height: number
  /** 1 for a still picture. */
  frames: number
  /** Of one turn of the animation; null for a still picture. */
  durationMs: number | null
  body: Uint8Array
}

/** What the image is, as far as its bytes say. */
export interface SourceFacts {
  /** By the bytes, such as `image/jpeg`. */
  type: string
  /** After orientation. */
  width: number
  height: number
  /** Frames of an animation, pages of a TIFF; 1 otherwise. */
  pages: number
  /** Of one turn of the animation; null for a still picture. */
  durationMs: number | null
  /** How often an animation plays, 0 for ever; null for a still picture. */
  loop: number | null
  /** Whether it has an alpha channel. */
  alpha: boolean
  /** Such as `srgb`, `cmyk`, `b-w`, `lab`. */
  colourSpace: string
  /** The ICC profile's own name; null without one. */
  profile: string | null
  /** Bits a sample. */
  bitDepth: number
  camera: { make?: string; model?: string } | null
  /** As the camera wrote it: ISO 8601, with an offset only where the file has one. */
  capturedAt: string | null
  /** Decimal degrees. Only where {@link RenderPlan.exposeGps} and the file has them. */
  gps?: { latitude: number; longitude: number }
  /** A ThumbHash, in base64. */
  thumbhash: string
  /** `#rrggbb`. */
  dominant: string
  /** `#rrggbb` each, the most frequent first. */
  palette: string[]
}

/** What rendering took, in the rendering process. */
export interface RenderCost {
  decodeMs: number
  resizeMs: number
  encodeMs: number
  /** The process's highest resident memory, of its jobs so far. */
  peakRssBytes: number
}
