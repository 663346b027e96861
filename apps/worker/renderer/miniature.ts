import type { Frames } from './picture.ts'

/**
 * The first frame within {@link SIDE} × {@link SIDE}, with alpha: all that a placeholder and a palette need. By the mean of
 * a few points of what each of its pixels stands for; another pass through the decoder's pipeline costs more than that.
 */
export function miniature({ width, height, channels, data }: Frames): Frames {
  const scale = Math.min(1, SIDE / width, SIDE / height)
  const small = {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  }
  const rgba = Buffer.alloc(small.width * small.height * 4)
  const columns = points(width, small.width)
  const rows = points(height, small.height)
  for (let y = 0; y < small.height; y++) {
    for (let x = 0; x < small.width; x++) {
      let [red, green, blue, alpha] = [0, 0, 0, 0]
      for (const row of rows[y]!) {
        for (const column of columns[x]!) {
          const at = (row * width + column) * channels
          const weight = channels === 4 ? data[at + 3]! : 255
          red += weight * data[at]!
          green += weight * data[at + 1]!
          blue += weight * data[at + 2]!
          alpha += weight
        }
      }
      const to = (y * small.width + x) * 4
      if (alpha === 0) continue
      rgba[to] = Math.round(red / alpha)
      rgba[to + 1] = Math.round(green / alpha)
      rgba[to + 2] = Math.round(blue / alpha)
      rgba[to + 3] = Math.round(alpha / (rows[y]!.length * columns[x]!.length))
    }
  }
  return { ...small, channels: 4, frames: 1, data: rgba }
}

/** For each of `to` stretches of a line of `from` pixels, up to {@link POINTS} pixels spread over it. */
function points(from: number, to: number): number[][] {
  return Array.from({ length: to }, (_, i) => {
    const [start, end] = [(i * from) / to, ((i + 1) * from) / to]
    const count = Math.max(1, Math.min(POINTS, Math.floor(end - start)))
    return Array.from({ length: count }, (_, k) => Math.floor(start + ((k + 0.5) * (end - start)) / count))
  })
}

const SIDE = 48
const POINTS = 5
