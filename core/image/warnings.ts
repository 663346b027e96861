/** What a job says about its image that did not stop it. The codes are stable; the sentences are for people. */
export interface ImageWarning {
  code: ImageWarningCode
  message: string
}

/** Each code with what it means. */
export const IMAGE_WARNINGS = {
  type_mismatch: 'The request’s Content-Type named another image type than the bytes.',
  lenient_decode: 'The decoder complained of the file, and yet all of its picture could be read.',
  animation_dropped: 'An output is a still picture, the first frame of an animation.',
  apng_as_still: 'The image is an animated PNG, of which only the first frame is read.',
  hdr_lost: 'The image has a high dynamic range (PQ or HLG), the outputs the usual one: it was tone-mapped.',
  gain_map_lost: 'The image has a gain map, with which an HDR screen shows more than the outputs do.',
  bit_depth_reduced: 'The image has more bits a sample than the 8 of the outputs.',
  gamut_clipped: 'Colours that lie outside of sRGB were moved to its edge.',
  profile_missing: 'The image’s colours need a profile that it does not have: they are a guess.',
  profile_broken:
    'The image’s colour profile, or colour tag, cannot be used: its colours are shown as if they were sRGB.',
  output_clamped: 'An output is smaller than asked, because its format, or a limit, allows no more.',
} as const

export type ImageWarningCode = keyof typeof IMAGE_WARNINGS
