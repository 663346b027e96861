import type { OutputPlan } from '../../../core/preset.ts'
import type { Size } from './picture.ts'

/** How an output comes from its source. No side is ever 0. */
export interface Layout {
  /** The whole source at the output's scale; never larger than the source. A larger picture of it will do as well. */
  working: Size
  /** Whether what sticks out of {@link picture}’s proportions is cut off. */
  cuts: boolean
  /** What the source, or what is left of it, becomes. */
  picture: Size
  /** The output: {@link picture}, with background around it where it is smaller. */
  canvas: Size
  /** Whether the output is smaller than asked, because more cannot be stored or held. */
  clamped: boolean
}

/** What an output may be at most. */
export interface Room {
  maxSide: number
  /** Over all frames: they are held in one piece. */
  maxPixels: number
  frames: number
}

/**
 * The sizes of an output.
 *
 * Without `enlarge` no pixel of the source becomes larger: `inside` gives the source's own size, `contain` puts that into
 * a canvas as large as asked, and `cover` gives the largest part of the source with the proportions that were asked for.
 * A width or height that is not given follows from the other one, and there is nothing to cut off or to fill then.
 */
export function layOut(
  { width, height, fit, enlarge }: Pick<OutputPlan, 'width' | 'height' | 'fit' | 'enlarge'>,
  source: Size,
  { maxSide, maxPixels, frames }: Room,
): Layout {
  const box = width !== null && height !== null ? { width, height } : null
  const cuts = box !== null && fit === 'cover'
  const part = cuts ? largestPart(source, box) : source
  const wanted = Math.min((width ?? Infinity) / part.width, (height ?? Infinity) / part.height)
  const unclamped = wanted === Infinity ? 1 : enlarge ? wanted : Math.min(1, wanted)
  const asked = box !== null && fit === 'contain' ? box : times(part, unclamped)

  const held = Math.max(area(asked), area(times(source, Math.min(1, unclamped)))) * frames
  const clamp = Math.min(1, maxSide / asked.width, maxSide / asked.height, Math.sqrt(maxPixels / held))
  const scale = unclamped * clamp
  const canvas = whole(times(asked, clamp), { width: maxSide, height: maxSide })
  return {
    working: whole(times(source, Math.min(1, scale)), source),
    cuts,
    picture: whole(times(part, scale), canvas),
    canvas,
    clamped: clamp < 1,
  }
}

/** The largest part of `size` with the proportions of `shape`; its sides are no whole numbers. */
export function largestPart(size: Size, shape: Size): Size {
  const scale = Math.min(size.width / shape.width, size.height / shape.height)
  return times(shape, scale)
}

/** Rounded, at least one pixel, and no larger than `most`. */
export function whole({ width, height }: Size, most: Size): Size {
  return {
    width: Math.min(most.width, Math.max(1, Math.round(width))),
    height: Math.min(most.height, Math.max(1, Math.round(height))),
  }
}

/** The smallest size that holds all of them. */
export function enclosing(sizes: readonly Size[]): Size {
  return {
    width: Math.max(...sizes.map(({ width }) => width)),
    height: Math.max(...sizes.map(({ height }) => height)),
  }
}

function times({ width, height }: Size, factor: number): Size {
  return { width: width * factor, height: height * factor }
}

function area({ width, height }: Size): number {
  return width * height
}
