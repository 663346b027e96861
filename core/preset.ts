/**
 * What a job makes of its image. Stored whole with the job: a preset that an operator changes later changes no job that
 * was accepted before.
 */
export interface Preset {
  /** 1–16, with different names. */
  outputs: OutputPlan[]
  /** Resize in linear light instead of sRGB as it is: right for fine light detail, and slower. */
  linear: boolean
  /** Keep the original's copyright notice in the outputs; everything else about it is dropped either way. */
  keepCopyright: boolean
}

export interface OutputPlan {
  /** Becomes part of the output's key and URL. */
  name: string
  /** In pixels; null: whatever the other one and the image's proportions give. Both null: the image's own size. */
  width: number | null
  height: number | null
  /**
   * `inside`: as large as fits into width × height. `cover`: fills it, and what sticks out is cut off. `contain`: as
   * `inside`, with {@link background} around it up to exactly width × height.
   */
  fit: Fit
  /** `cover`: which part stays. `contain`: where the image stands. */
  position: Position
  /** `#rrggbb` or `#rrggbbaa`: behind what is transparent where the format has no transparency, and around `contain`. */
  background: string
  /** Whether a smaller image is made larger. */
  enlarge: boolean
  format: PlannedFormat
  /** Whether an `auto` output is stored as AVIF as well. */
  avif: boolean
  /** 1–100; null: the format's own default. */
  quality: number | null
  /** Keep an animation, where the format has animations; otherwise the output is its poster, the first frame. */
  animated: boolean
}

export type Fit = 'inside' | 'cover' | 'contain'

/** A side, a corner, the part that draws attention, or a point in fractions of width and height from the top left. */
export type Position = NamedPosition | { x: number; y: number }
export type NamedPosition = (typeof NAMED_POSITIONS)[number]

export const NAMED_POSITIONS = [
  'centre',
  'north',
  'northeast',
  'east',
  'southeast',
  'south',
  'southwest',
  'west',
  'northwest',
  'attention',
] as const

export type OutputFormat = (typeof OUTPUT_FORMATS)[number]
export const OUTPUT_FORMATS = ['jpeg', 'webp', 'avif', 'png', 'gif'] as const

/**
 * `basic`: one variant that every browser shows: JPEG; WebP where something of it is transparent, or it is animated.
 * `auto`: several variants, of which the request's Accept header chooses: WebP, a fallback (JPEG; PNG where something is
 * transparent; GIF where it is animated), and AVIF where {@link OutputPlan.avif} says so and it is not animated.
 */
export type PlannedFormat = 'auto' | 'basic' | OutputFormat

/** What is made where neither the request nor a file of presets says otherwise. */
export const DEFAULT_PRESET_NAME = 'thumbnail'

export const DEFAULT_PRESET: Preset = {
  outputs: [
    {
      name: 'thumbnail',
      width: 320,
      height: 320,
      fit: 'inside',
      position: 'centre',
      background: '#ffffff',
      enlarge: false,
      format: 'basic',
      avif: false,
      quality: null,
      animated: false,
    },
  ],
  linear: false,
  keepCopyright: false,
}
