import type { Frames } from './picture.ts'

/**
 * The colours that a picture is made of, `#rrggbb` each, the one of most pixels first; transparent pixels count for
 * nothing. By cutting the space of colours in two again and again, over at most {@link MOST_PIXELS} pixels of the first frame, and the same on every run.
 *
 * @returns up to `most` colours that differ; none where all is transparent
 */
export function paletteOf({ width, height, channels, data }: Frames, most: number): string[] {
  const step = Math.max(1, Math.floor((width * height) / MOST_PIXELS))
  const pixels: number[] = []
  for (let pixel = 0; pixel < width * height; pixel += step) {
    const at = pixel * channels
    if (channels === 4 && data[at + 3]! < 128) continue
    pixels.push((data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!)
  }
  if (pixels.length === 0) return []
  let boxes = [boxOf(pixels)]
  while (boxes.length < most) {
    const widest = boxes.reduce((a, b) => (weight(b) > weight(a) ? b : a))
    if (widest.range === 0) break
    boxes = boxes.flatMap((box) => (box === widest ? halves(box) : [box]))
  }
  return boxes
    .sort((a, b) => b.pixels.length - a.pixels.length || a.pixels[0]! - b.pixels[0]!)
    .map(({ pixels }) => hex(mean(pixels)))
}

/** Pixels as 0xrrggbb, and the channel, by its shift, in which they differ most. */
interface Box {
  pixels: number[]
  shift: number
  range: number
}

function boxOf(pixels: number[]): Box {
  const ranges = SHIFTS.map((shift) => {
    let [least, most] = [255, 0]
    for (const pixel of pixels) {
      const value = (pixel >> shift) & 255
      if (value < least) least = value
      if (value > most) most = value
    }
    return most - least
  })
  const range = Math.max(...ranges)
  return { pixels, range, shift: SHIFTS[ranges.indexOf(range)]! }
}

/** What is divided next: many pixels, or a few that differ much. */
function weight({ pixels, range }: Box): number {
  return range === 0 ? 0 : range * Math.sqrt(pixels.length)
}

/** Divided in the middle of its widest channel's values, so that a small patch of colour stays a colour of its own. */
function halves({ pixels, shift }: Box): [Box, Box] {
  let [least, most] = [255, 0]
  for (const pixel of pixels) {
    const value = (pixel >> shift) & 255
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  const middle = (least + most) >> 1
  const isLow = (pixel: number) => ((pixel >> shift) & 255) <= middle
  return [boxOf(pixels.filter(isLow)), boxOf(pixels.filter((pixel) => !isLow(pixel)))]
}

function mean(pixels: number[]): number {
  return SHIFTS.reduce<number>((colour, shift) => {
    const sum = pixels.reduce((total, pixel) => total + ((pixel >> shift) & 255), 0)
    return colour | (Math.round(sum / pixels.length) << shift)
  }, 0)
}

function hex(colour: number): string {
  return `#${colour.toString(16).padStart(6, '0')}`
}

const SHIFTS = [16, 8, 0] as const
const MOST_PIXELS = 2_048
