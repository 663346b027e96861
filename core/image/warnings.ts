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
  /** The output is a still picture, the first frame of an animation. */
  | 'animation_dropped'
  /** The image has a high dynamic range (PQ or HLG), the output the usual one. */
  | 'hdr_lost'
