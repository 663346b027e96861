import type { OutputFormat, OutputPlan, PlannedFormat } from '../../../core/preset.ts'

/** The formats in which an output is stored. */
export function variantsOf(
  { format, avif }: Pick<OutputPlan, 'format' | 'avif'>,
  { transparent, animated }: { transparent: boolean; animated: boolean },
): OutputFormat[] {
  switch (format) {
    case 'basic':
      return [transparent || animated ? 'webp' : 'jpeg']
    case 'auto':
      if (animated) return ['webp', 'gif']
      return [...(avif ? (['avif'] as const) : []), 'webp', transparent ? 'png' : 'jpeg']
    default:
      return [format]
  }
}

/** Whether the output is an animation where its source is one. */
export function keepsAnimation({ format, animated }: Pick<OutputPlan, 'format' | 'animated'>): boolean {
  return animated && ['basic', 'auto', 'webp', 'gif'].includes(format)
}

/**
 * The longest side, in pixels, of which the encoders make something that every reader reads. PNG could have more, but
 * nothing shows it.
 */
export const MAX_SIDE: Record<PlannedFormat, number> = {
  jpeg: 65_500,
  png: 65_535,
  gif: 65_535,
  webp: 16_383,
  avif: 16_384,
  // Either may be WebP.
  basic: 16_383,
  auto: 16_383,
}
