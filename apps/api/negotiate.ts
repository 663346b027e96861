import type { OutputFormat } from '../../core/preset.ts'
import { byReadability } from '../../core/variants.ts'

/** What a client that names several formats is given, at equal quality: the one with the fewest bytes for a picture. */
const SMALLEST_FIRST: readonly OutputFormat[] = ['avif', 'webp', 'jpeg', 'png', 'gif']

/**
 * Of the variants of an output, the one that a request's Accept header prefers (RFC 9110, 12.5.1): by quality; then one
 * that is named before one that a wildcard covers; then the smallest of the named ones, the most readable of the others.
 * A client that accepts none of them is given the most readable one all the same, never a 406: a picture in another
 * format is of more use than a problem in JSON, which it did not ask for either.
 *
 * @param accept the header; none, or an empty one, accepts anything
 * @param variants one at least
 */
export function negotiate<Variant extends { format: OutputFormat }>(
  accept: string | undefined,
  variants: readonly Variant[],
): Variant {
  const ranges = readRanges(accept?.trim() || '*/*')
  const offers = byReadability(variants).map((variant, place) => {
    const { quality, named } = acceptance(ranges, variant.format)
    return { variant, quality, named, place: named ? SMALLEST_FIRST.indexOf(variant.format) : place }
  })
  const [best] = offers.toSorted(
    (a, b) => b.quality - a.quality || Number(b.named) - Number(a.named) || a.place - b.place,
  )
  return best!.variant
}

/** Media ranges with their qualities. */
type Ranges = Map<string, number>

/** What is no range of ours is passed over, and so are parameters other than `q`. */
function readRanges(accept: string): Ranges {
  const ranges: Ranges = new Map()
  for (const element of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = element.split(';').map((part) => part.trim())
    ranges.set(range, Math.max(qualityOf(parameters), ranges.get(range) ?? 0))
  }
  return ranges
}

/** 1 where there is none, and where it is malformed. */
function qualityOf(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith('q='))
  return Number(/^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(quality ?? '')?.[1] ?? 1)
}

/** The most precise range decides, even where a wider one allows more. */
function acceptance(ranges: Ranges, format: OutputFormat): { quality: number; named: boolean } {
  const exact = ranges.get(`image/${format}`)
  if (exact !== undefined) return { quality: exact, named: exact > 0 }
  return { quality: ranges.get('image/*') ?? ranges.get('*/*') ?? 0, named: false }
}
