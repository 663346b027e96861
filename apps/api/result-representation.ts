import type { JobResult } from '../../core/job.ts'
import type { ResultBody } from './schemas/result.ts'

/** What was learnt while a job was done, as clients see it: units in the names. */
export function resultRepresentation({ engine, facts, cost, moderation }: JobResult): ResultBody {
  return {
    engine,
    facts: {
      content_type: facts.type as NonNullable<ResultBody['facts']>['content_type'],
      width: facts.width,
      height: facts.height,
      pages: facts.pages,
      duration_ms: facts.durationMs,
      loop: facts.loop,
      alpha: facts.alpha,
      colour_space: facts.colourSpace,
      profile: facts.profile,
      bit_depth: facts.bitDepth,
      camera: facts.camera,
      captured_at: facts.capturedAt,
      gps: facts.gps,
      thumbhash: facts.thumbhash,
      dominant: facts.dominant,
      palette: facts.palette,
    },
    cost: {
      decode_ms: cost.decodeMs,
      resize_ms: cost.resizeMs,
      encode_ms: cost.encodeMs,
      peak_rss_bytes: cost.peakRssBytes,
    },
    moderation: moderation ?? undefined,
  }
}
