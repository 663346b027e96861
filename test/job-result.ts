import type { JobResult } from '../core/job.ts'
import type { RenderCost, RenderPlan, SourceFacts } from '../core/ports/renderer.ts'
import { DEFAULT_PRESET } from '../core/preset.ts'

/** What a request that asks for nothing makes of its image. */
export const DEFAULT_PLAN: RenderPlan = { preset: DEFAULT_PRESET, strict: false, exposeGps: false }

/** Of an image that nobody decoded. */
export const FACTS: SourceFacts = {
  type: 'image/png',
  width: 1,
  height: 1,
  pages: 1,
  durationMs: null,
  loop: null,
  alpha: false,
  colourSpace: 'srgb',
  profile: null,
  bitDepth: 8,
  camera: null,
  capturedAt: null,
  thumbhash: '3OcRJYB4d3h/iIeHeEh3eIhw+j3A',
  dominant: '#808080',
  palette: ['#808080'],
}

export const COST: RenderCost = { decodeMs: 3, resizeMs: 2, encodeMs: 1, peakRssBytes: 100_000_000 }

export const RESULT: JobResult = { engine: 'engine-1', facts: FACTS, cost: COST, moderation: null }

/** What a still JPEG is, beside its size and bytes. */
export const STILL_JPEG = {
  format: 'jpeg',
  contentType: 'image/jpeg',
  frames: 1,
  durationMs: null,
} as const
