import type { NamedPosition, Position } from '../../../core/preset.ts'
import type { Size } from './picture.ts'

/** From the left and the top, in whole pixels. */
export interface Offset {
  left: number
  top: number
}

/** Where a part of the size `part` is cut out of `whole`. Attention is for whoever sees pixels; the centre here. */
export function cutAt(position: Position, whole: Size, part: Size): Offset {
  if (typeof position === 'string') return placeAt(position, whole, part)
  // The point comes as near to the part's centre as the edges allow.
  const along = (fraction: number, length: number, kept: number) =>
    Math.min(length - kept, Math.max(0, Math.round(fraction * length - kept / 2)))
  return {
    left: along(position.x, whole.width, part.width),
    top: along(position.y, whole.height, part.height),
  }
}

/** Where a picture of the size `part` stands on a canvas of the size `whole`: a point in the picture says nothing there. */
export function placeAt(position: Position, whole: Size, part: Size): Offset {
  const [x, y] = ALIGNMENT[typeof position === 'string' ? position : 'centre']
  return {
    left: Math.round((whole.width - part.width) * x),
    top: Math.round((whole.height - part.height) * y),
  }
}

/** Which share of what is left over lies before the part. */
const ALIGNMENT: Record<NamedPosition, [x: number, y: number]> = {
  centre: [0.5, 0.5],
  north: [0.5, 0],
  northeast: [1, 0],
  east: [1, 0.5],
  southeast: [1, 1],
  south: [0.5, 1],
  southwest: [0, 1],
  west: [0, 0.5],
  northwest: [0, 0],
  attention: [0.5, 0.5],
}
