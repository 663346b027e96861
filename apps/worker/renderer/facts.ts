import { rgbaToThumbHash } from 'thumbhash'
import { shownDelayMs } from '../../../core/image/animation-delay.ts'
import type { ImageFacts } from '../../../core/image/verdict.ts'
import type { SourceFacts } from '../../../core/ports/renderer.ts'
import { cleanText } from './clean-text.ts'
import type { Decoded } from './decode.ts'
import { readExif } from './exif.ts'
import { miniature } from './miniature.ts'
import { paletteOf } from './palette.ts'

/** What a job tells of its image: by its header, and by the picture as it was decoded for the outputs. */
export function sourceFacts(
  facts: ImageFacts,
  { source, picture }: Pick<Decoded, 'source' | 'picture'>,
  { exposeGps }: { exposeGps: boolean },
): SourceFacts {
  const { make, model, capturedAt, gps } = source.exif ? readExif(source.exif) : {}
  const small = miniature(picture)
  const palette = paletteOf(small, PALETTE_COLOURS)
  return {
    type: facts.contentType,
    width: source.width,
    height: source.height,
    pages: facts.frames ?? source.pages,
    ...animation(facts, source.delaysMs, source.loop),
    alpha: facts.alpha ?? source.alpha,
    colourSpace: source.tagged ?? source.space,
    profile: source.profile?.name ? cleanText(source.profile.name) : null,
    bitDepth: facts.bitDepth ?? source.bitDepth,
    camera: make || model ? { ...(make && { make }), ...(model && { model }) } : null,
    capturedAt: capturedAt ?? null,
    ...(exposeGps && gps && { gps }),
    thumbhash: Buffer.from(rgbaToThumbHash(small.width, small.height, small.data)).toString('base64'),
    dominant: palette[0] ?? ALL_TRANSPARENT,
    palette,
  }
}

function animation(
  { durationMs, loop }: ImageFacts,
  delaysMs: readonly number[] | null,
  plays: number | null,
): Pick<SourceFacts, 'durationMs' | 'loop'> {
  const shown = delaysMs?.reduce((sum, delayMs) => sum + shownDelayMs(delayMs), 0)
  return { durationMs: shown ?? durationMs ?? null, loop: plays ?? loop ?? null }
}

const PALETTE_COLOURS = 5
const ALL_TRANSPARENT = '#000000'
