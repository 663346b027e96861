import { DEFAULT_LIMITS } from '../../../../core/limits.ts'
import { factsOf } from '../../../../test/images/inspect.ts'
import { type Decoded, decode } from '../decode.ts'

/** The image, decoded at its own size unless `side` limits it, with as many frames as asked. */
export function decoded(
  original: Buffer,
  { side = Number.POSITIVE_INFINITY, frames = 1, linear = false } = {},
): Promise<Decoded> {
  const choose = ({ width, height }: { width: number; height: number }) => {
    const scale = Math.min(1, side / width, side / height)
    return { width: Math.round(width * scale), height: Math.round(height * scale), frames }
  }
  return decode(original, factsOf(original), DEFAULT_LIMITS, choose, { linear })
}

export function codesOf({ warnings }: Pick<Decoded, 'warnings'>): string[] {
  return warnings.map(({ code }) => code)
}

/** Red, green and blue of the pixel in the picture's middle. */
export function middleOf({ picture: { width, height, channels, data } }: Decoded): number[] {
  const at = (Math.floor(height / 2) * width + Math.floor(width / 2)) * channels
  return [...data.subarray(at, at + 3)]
}
