/** What a job says about its image that did not stop it. The codes are stable; the sentences are for people. */
export interface ImageWarning {
  code: ImageWarningCode
  message: string
}

export type ImageWarningCode =
  /** The request's Content-Type named another image type than the bytes. */
  | 'type_mismatch'
  /** The decoder complained of the file, and yet all of its picture could be read. */
  | 'lenient_decode'
  /** An output is a still picture, the first frame of an animation. */
  | 'animation_dropped'
  /** The image is an animated PNG, of which only the first frame is read. */
  | 'apng_as_still'
  /** The image has a high dynamic range (PQ or HLG), the outputs the usual one: it was tone-mapped. */
  | 'hdr_lost'
  /** The image has a gain map, with which an HDR screen shows more than the outputs do. */
  | 'gain_map_lost'
  /** The image has more bits a sample than the 8 of the outputs. */
  | 'bit_depth_reduced'
  /** Colours that lie outside of sRGB were moved to its edge. */
  | 'gamut_clipped'
  /** The image's colours need a profile that it does not have: they are a guess. */
  | 'profile_missing'
  /** The image's colour profile, or colour tag, cannot be used: its colours are shown as if they were sRGB. */
  | 'profile_broken'
  /** An output is smaller than asked, because its format, or a limit, allows no more. */
  | 'output_clamped'
