import type { Frames } from './picture.ts'

/**
 * The picture turned as its EXIF orientation, 1–8, asks for, each frame by itself: the decoder turns still pictures, and
 * refuses to turn animations.
 */
export function orient(picture: Frames, orientation: number): Frames {
  if (orientation === 1) return picture
  const { width, height, channels, frames, data } = picture
  const sideways = orientation >= 5
  const to = sideways ? { width: height, height: width } : { width, height }
  const source = sourceOf(orientation, width - 1, height - 1)
  const turned = Buffer.allocUnsafe(data.length)
  let at = 0
  for (let frame = 0; frame < frames; frame++) {
    for (let y = 0; y < to.height; y++) {
      for (let x = 0; x < to.width; x++) {
        const [column, row] = source(x, y)
        const from = ((frame * height + row) * width + column) * channels
        for (let channel = 0; channel < channels; channel++) turned[at++] = data[from + channel]!
      }
    }
  }
  return { ...picture, ...to, data: turned }
}

/** Where a pixel of the upright picture stands in the stored one, whose last column and row are `right` and `bottom`. */
function sourceOf(
  orientation: number,
  right: number,
  bottom: number,
): (x: number, y: number) => readonly [column: number, row: number] {
  switch (orientation) {
    case 2:
      return (x, y) => [right - x, y]
    case 3:
      return (x, y) => [right - x, bottom - y]
    case 4:
      return (x, y) => [x, bottom - y]
    case 5:
      return (x, y) => [y, x]
    case 6:
      return (x, y) => [y, bottom - x]
    case 7:
      return (x, y) => [right - y, bottom - x]
    case 8:
      return (x, y) => [right - y, x]
    default:
      return (x, y) => [x, y]
  }
}
