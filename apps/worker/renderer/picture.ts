/** In pixels. */
export interface Size {
  width: number
  height: number
}

/** Pixels in sRGB. {@link width} and {@link height} are those of one frame. */
export interface Frames extends Size {
  /** The fourth channel is alpha, not multiplied into the others. */
  channels: 3 | 4
  /** 1 for a still picture. */
  frames: number
  /** 8 bits a sample, row by row, one frame below the other. */
  data: Buffer
}

/** A decoded image, upright. */
export interface Picture extends Frames {
  /** As the file says, one a frame; null for a still picture. */
  delaysMs: number[] | null
  /** How often the animation plays, 0 for ever; null for a still picture. */
  loop: number | null
}
