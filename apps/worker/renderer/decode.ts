import sharp, { type OutputInfo, type Sharp } from 'sharp'
import type { ImageFacts } from '../../../core/image/verdict.ts'
import type { ImageWarning } from '../../../core/image/warnings.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../core/limits.ts'
import { firstFrame } from './apng.ts'
import { atEdge, CLIPPED_SHARE, type ColourPlan, clippedWarning, planColour } from './colour.ts'
import { decodeFailure } from './decode-failure.ts'
import { decodeAsBrowsersDo, type FailOn, lenientWarning } from './leniency.ts'
import { look, type Source } from './look.ts'
import { orient } from './orient.ts'
import type { Frames, Picture, Size } from './picture.ts'
import { asUtf8, withSvgLoader } from './svg.ts'
import { toSrgb } from './tone-map.ts'

export interface Decoded {
  picture: Picture
  source: Source
  /** All but those of the outputs. */
  warnings: ImageWarning[]
  /** The file was accepted although its decoder complained of it. */
  lenient: boolean
}

/** What is enough for all outputs. */
export interface WorkingSize extends Size {
  /** 1 for a still picture. */
  frames: number
}

/**
 * Decodes the image, once, at the size that `choose` picks: much of the work is never done where that is smaller.
 *
 * @param choose given the image's own size, upright; what it returns is of the same shape, and no larger. The picture is
 *   larger where it is yet to be shrunk: `linear`ly, or an animation
 * @throws {PermanentError} when the image is at fault, {@link WorkError} when memory ran out
 */
export async function decode(
  original: Buffer,
  facts: ImageFacts,
  limits: Limits,
  choose: (source: Size) => WorkingSize,
  { linear }: { linear: boolean },
): Promise<Decoded> {
  try {
    return facts.type === 'svg'
      ? await withSvgLoader(() => decodeFound(asUtf8(original), facts, limits, choose, linear))
      : await decodeFound(original, facts, limits, choose, linear)
  } catch (error) {
    throw decodeFailure(error, facts.type)
  }
}

async function decodeFound(
  original: Buffer,
  facts: ImageFacts,
  limits: Limits,
  choose: (source: Size) => WorkingSize,
  linear: boolean,
): Promise<Decoded> {
  const poster = facts.defaultImageOutsideAnimation ? await firstFrame(original) : original
  const source = await look(poster, facts)
  const plan = planColour(facts, source)
  const chosen = choose({ width: source.width, height: source.height })
  const frames = Math.max(1, Math.min(chosen.frames, source.delaysMs?.length ?? 1))
  // A decoder shrinks in whatever light the file is in, and the frames of an animation as one strip, each bleeding into
  // the next: where memory allows it, shrinking is left to who draws the outputs.
  const affordable = source.width * source.height * frames <= limits.maxPixels
  const size = (linear || frames > 1) && affordable ? source : chosen
  const { decoded, lenient } = await decodeAsBrowsersDo(facts.type, poster, (bytes, failOn) =>
    read(
      { bytes, failOn, source, plan, orientation: facts.orientation, limits },
      { width: size.width, height: size.height, frames },
    ),
  )
  const { clipped, ...picture } = decoded
  const delaysMs = frames > 1 ? source.delaysMs!.slice(0, frames) : null
  return {
    picture: { ...picture, delaysMs, loop: frames > 1 ? source.loop : null },
    source,
    lenient,
    warnings: [
      ...(lenient ? [lenientWarning] : []),
      ...(facts.type === 'png' && facts.animated ? [apngWarning] : []),
      ...plan.warnings,
      ...(clipped > CLIPPED_SHARE ? [clippedWarning] : []),
    ],
  }
}

interface Read {
  bytes: Buffer
  failOn: FailOn
  source: Source
  plan: ColourPlan
  orientation: number
  limits: Limits
}

/** Shrunk as it is read, made sRGB, and turned. `clipped`: the share of pixels whose colours sRGB has not. */
async function read(
  { bytes, failOn, source, plan, orientation, limits }: Read,
  { frames, ...upright }: WorkingSize,
): Promise<Frames & { clipped: number }> {
  const { maxPixels, maxAnimatedPixels = DEFAULT_LIMITS.maxAnimatedPixels } = limits
  const image = sharp(bytes, {
    failOn,
    limitInputPixels: frames > 1 ? Math.max(maxPixels, maxAnimatedPixels) : maxPixels,
    ...(frames > 1 && { pages: frames }),
    // The decoder throws at an animation that is to be turned.
    autoOrient: frames === 1,
    ignoreIcc: plan.ignoreProfile,
  })
  const turn = frames === 1 ? 1 : orientation
  const whole = onItsSide(upright, turn)
  const canvas = onItsSide(source, turn)
  const seen = onItsSide(source.drawn, turn)
  const drawn = {
    width: Math.max(1, Math.round((seen.width * whole.width) / canvas.width)),
    height: Math.max(1, Math.round((seen.height * whole.height) / canvas.height)),
  }
  image.resize({ ...drawn, fit: 'fill' })
  // libvips cuts a GIF's empty screen off, below and to the right of its frames.
  if (whole.width > drawn.width || whole.height > drawn.height) {
    image.extend({
      right: whole.width - drawn.width,
      bottom: whole.height - drawn.height,
      background: CLEAR,
    })
  }
  // sharp converts deep colours with a profile to Display P3, and only shallow ones to sRGB.
  if (source.space === 'rgb16' && source.hasProfile && !plan.ignoreProfile) image.withIccProfile('srgb')
  const shallow = plan.tagged === null
  const managed = source.space === 'grey16' && source.profile && !plan.ignoreProfile
  const { data, info } = await (managed ? await shallowGrey(image) : image)
    .toColourspace(shallow ? 'srgb' : 'rgb16')
    .raw({ depth: shallow ? 'uchar' : 'ushort' })
    .toBuffer({ resolveWithObject: true })
  const height = info.height / frames
  const { samples, channels } = withoutExtras(shallow ? data : deepSamples(data), info)
  const converted = plan.tagged
    ? toSrgb(samples as Uint16Array, channels, plan.tagged.cicp, plan.tagged.conversion)
    : { data: samples as Buffer, clipped: 0 }
  const stored = { width: info.width, height, channels, frames, data: converted.data }
  const picture = orient(stored, turn)
  return { ...picture, clipped: plan.wide ? atEdge(picture) : converted.clipped }
}

/** Of a size as it is seen: as it is stored, and the other way round. */
function onItsSide({ width, height }: Size, orientation: number): Size {
  return orientation >= 5 ? { width: height, height: width } : { width, height }
}

/** sharp passes over the profile of deep grey, and follows that of shallow grey. */
async function shallowGrey(image: Sharp): Promise<Sharp> {
  const png = await image.toColourspace('b-w').keepIccProfile().png({ compressionLevel: 0 }).toBuffer()
  return sharp(png)
}

function deepSamples(data: Buffer): Uint16Array {
  return new Uint16Array(data.buffer, data.byteOffset, data.length / 2)
}

/** What a TIFF has of channels beyond alpha is no colour. */
function withoutExtras<T extends Buffer | Uint16Array>(
  samples: T,
  { width, height, channels }: OutputInfo,
): { samples: T; channels: 3 | 4 } {
  if (channels === 3 || channels === 4) return { samples, channels }
  if (channels < 3) throw new Error(`sRGB of ${channels} channels`)
  const kept = samples.slice(0, width * height * 4) as T
  for (let pixel = 0; pixel < width * height; pixel++) {
    kept.set(samples.subarray(pixel * channels, pixel * channels + 4), pixel * 4)
  }
  return { samples: kept, channels: 4 }
}

const apngWarning: ImageWarning = {
  code: 'apng_as_still',
  message: 'the image is an animated PNG; the outputs show its first frame',
}

const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 }
