import sharp, { type Sharp } from 'sharp'
import type { OutputPlan, Position } from '../../../core/preset.ts'
import { type Layout, largestPart, whole } from './fit.ts'
import type { Picture, Size } from './picture.ts'
import { cutAt, type Offset, placeAt } from './placement.ts'

/** What an encoder gets: the output’s pixels, frames one below the other. */
export interface Canvas extends Size {
  channels: 3 | 4
  frames: number
  data: Buffer
}

/**
 * Cuts, resizes and fills up the picture as the layout says, each frame by itself: of frames that lie one below the
 * other in one image, the edges would run into each other. Alpha is multiplied in while resizing, so that no edge gets
 * the colour of what cannot be seen.
 *
 * @param frames how many of the picture's frames, from the first on
 * @param linear resize light instead of sRGB's code values
 */
export async function draw(
  picture: Picture,
  layout: Layout,
  { position, background }: Pick<OutputPlan, 'position' | 'background'>,
  { frames, linear }: { frames: number; linear: boolean },
): Promise<Canvas> {
  const part = layout.cuts ? whole(largestPart(picture, layout.picture), picture) : picture
  const at = await cutOf(picture, part, position)
  const drawn: Canvas[] = []
  for (let i = 0; i < frames; i++) {
    const resized = await cutAndResize(frameOf(picture, i), { ...part, ...at }, layout.picture, linear)
    drawn.push(await fillUp(resized, layout.canvas, position, background))
  }
  const [first, ...others] = drawn as [Canvas, ...Canvas[]]
  if (others.length === 0) return first
  return { ...first, frames, data: Buffer.concat(drawn.map(({ data }) => data)) }
}

function frameOf({ width, height, channels, data }: Picture, index: number): Canvas {
  const bytes = width * height * channels
  return { width, height, channels, frames: 1, data: data.subarray(index * bytes, (index + 1) * bytes) }
}

/** Of an animation, what draws attention in its first frame stays: a cut that moved would shake it. */
async function cutOf(picture: Picture, part: Size, position: Position): Promise<Offset> {
  if (position !== 'attention' || !isSmaller(part, picture)) return cutAt(position, picture, part)
  const { info } = await open(frameOf(picture, 0))
    .resize({ width: part.width, height: part.height, fit: 'cover', position: 'attention' })
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { left: -(info.cropOffsetLeft ?? 0), top: -(info.cropOffsetTop ?? 0) }
}

async function cutAndResize(
  frame: Canvas,
  part: Size & Offset,
  size: Size,
  linear: boolean,
): Promise<Canvas> {
  const cuts = isSmaller(part, frame)
  const resizes = part.width !== size.width || part.height !== size.height
  if (!cuts && !resizes) return frame
  const image = open(frame)
  if (cuts) image.extract(part)
  if (resizes) image.resize({ ...size, fit: 'fill' })
  if (resizes && linear) image.pipelineColourspace('scrgb').toColourspace('srgb')
  return pixelsOf(image)
}

/** A step of its own, because the background is an sRGB colour whatever the picture was resized in. */
async function fillUp(frame: Canvas, canvas: Size, position: Position, background: string): Promise<Canvas> {
  if (!isSmaller(frame, canvas)) return frame
  const { left, top } = placeAt(position, canvas, frame)
  const [right, bottom] = [canvas.width - frame.width - left, canvas.height - frame.height - top]
  return pixelsOf(open(frame).extend({ left, top, right, bottom, background }))
}

function open({ data, width, height, channels }: Canvas): Sharp {
  return sharp(data, { raw: { width, height, channels } })
}

async function pixelsOf(image: Sharp): Promise<Canvas> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height, channels: info.channels as 3 | 4, frames: 1 }
}

function isSmaller(a: Size, b: Size): boolean {
  return a.width < b.width || a.height < b.height
}
