/** What an upload may be at most. A refusal names the limit and the value. */
export interface Limits {
  /** Of the original, in bytes. Defaults to 64 MB. */
  maxBytes: number
  /** Width × height of the image, of one frame where it has several. Defaults to 100 megapixels. */
  maxPixels: number
  /** Frames of an animation, pages of a TIFF. Defaults to 2,000. */
  maxFrames: number
  /** Width × height × frames of an animation. Defaults to 500 megapixels. */
  maxAnimatedPixels: number
  /** Whether SVG, which is a program as much as a picture, is taken at all. Defaults to false. */
  acceptSvg?: boolean
}

export const DEFAULT_LIMITS: Limits = {
  maxBytes: 64_000_000,
  maxPixels: 100_000_000,
  maxFrames: 2_000,
  maxAnimatedPixels: 500_000_000,
}
