import sharp, { type Sharp } from 'sharp'
import { seededRandom } from '../simulation/seeded-random.ts'

export interface PictureOptions {
  width: number
  height: number
  /** Fades to transparent towards the right. Defaults to opaque. */
  alpha?: boolean
  /** How far the sun has moved, 0 to 1: what makes the frames of an animation. */
  time?: number
}

/** A picture by its pixels, ready to be encoded. */
export function picture(options: PictureOptions): Sharp {
  const { width, height, alpha = false } = options
  return sharp(pixels(options), { raw: { width, height, channels: alpha ? 4 : 3 } })
}

/** The picture in 16 bits of PQ (SMPTE ST 2084), its white at the 203 cd/m² of ITU-R BT.2408. */
export function pqPicture(options: PictureOptions): Sharp {
  const { width, height } = options
  const samples = Uint16Array.from(pixels(options), (value) => PQ_OF_SRGB[value]!)
  return sharp(samples, { raw: { width, height, channels: 3 } })
}

const PQ_OF_SRGB = Array.from({ length: 256 }, (_, value) => {
  const signal = value / 255
  const light = signal <= 0.04045 ? signal / 12.92 : ((signal + 0.055) / 1.055) ** 2.4
  const power = ((light * 203) / 10_000) ** (2610 / 16_384)
  const pq = ((3424 / 4096 + (2413 / 128) * power) / (1 + (2392 / 128) * power)) ** (2523 / 32)
  return Math.round(pq * 65_535)
})

/** Several pictures, the sun moving from one to the next, ready to be encoded as an animation. */
export function film({ width, height, alpha = false }: PictureOptions, frames: number): Sharp {
  const all = Array.from({ length: frames }, (_, i) => pixels({ width, height, alpha, time: i / frames }))
  return sharp(Buffer.concat(all), {
    raw: { width, height: height * frames, channels: alpha ? 4 : 3, pageHeight: height },
  })
}

const painted = new Map<string, Buffer>()

/** Painted once for each size and time: most of the images are encodings of the same picture. */
function pixels({ width, height, alpha = false, time = 0 }: PictureOptions): Buffer {
  const name = `picture ${width} ${height} ${alpha} ${time}`
  const bytes = painted.get(name) ?? paint({ width, height, alpha, time })
  painted.set(name, bytes)
  return bytes
}

/**
 * Sky, ground, a sun and a red tree under noise as a sensor has it: gradients and edges like a photograph's, and no
 * symmetry, so that a picture that is turned or mirrored is another. The same on every run.
 */
function paint({ width, height, alpha, time }: Required<PictureOptions>): Buffer {
  const noise = seededRandom(`noise ${width} ${height}`)
  const channels = alpha ? 4 : 3
  const bytes = Buffer.alloc(width * height * channels)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * channels
      const colour = colourAt(x / width, y / height, time)
      for (let i = 0; i < 3; i++) bytes[at + i] = Math.max(0, Math.min(255, colour[i]! + noise.int(-6, 6)))
      if (alpha) bytes[at + 3] = Math.round(255 * (1 - x / width))
    }
  }
  return bytes
}

function colourAt(x: number, y: number, time: number): [red: number, green: number, blue: number] {
  const sun = (x - 0.7 + 0.4 * time) ** 2 + (y - 0.25) ** 2
  if (sun < 0.012) return [250, 220, 90]
  if (x > 0.12 && x < 0.2 && y > 0.3 && y < 0.8) return [170, 40, 40]
  if (y > 0.65) return [60 + Math.round(60 * x), 120 - Math.round(40 * y), 50]
  return [90 + Math.round(110 * y), 140 + Math.round(70 * y), 225 - Math.round(50 * y)]
}
