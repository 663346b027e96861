import type { OutputFormat } from './preset.ts'

/** From the one that the most programs read to the one that the fewest do. */
const MOST_READABLE: readonly OutputFormat[] = ['jpeg', 'png', 'gif', 'webp', 'avif']

/**
 * Of the variants of one output, the one to give to whoever says nothing of what it reads.
 *
 * @param variants one at least
 */
export function fallbackOf<Variant extends { format: OutputFormat }>(variants: readonly Variant[]): Variant {
  return byReadability(variants)[0]!
}

/** The variants, the one that the most programs read first. */
export function byReadability<Variant extends { format: OutputFormat }>(
  variants: readonly Variant[],
): Variant[] {
  const rank = ({ format }: Variant) => MOST_READABLE.indexOf(format)
  return variants.toSorted((a, b) => rank(a) - rank(b))
}
