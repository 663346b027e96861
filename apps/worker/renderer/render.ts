import { PermanentError } from '../../../core/errors.ts'
import { createInspector } from '../../../core/image/inspector.ts'
import type { ImageFacts } from '../../../core/image/verdict.ts'
import type { ImageWarning } from '../../../core/image/warnings.ts'
import type { Limits } from '../../../core/limits.ts'
import type { Rendering, RenderPlan } from '../../../core/ports/renderer.ts'
import { copyrightOf } from './copyright.ts'
import { decode } from './decode.ts'
import { sourceFacts } from './facts.ts'
import { refuseLeniency } from './leniency.ts'
import { makeOutputs, type PlannedOutput, planOutputs } from './outputs.ts'
import { peakRssBytes } from './peak-memory.ts'
import type { Picture, Size } from './picture.ts'
import { startStopwatch } from './stopwatch.ts'
import { keepsAnimation } from './variants.ts'

/** To be raised with every change to this folder that changes an output's bytes: it is part of the outputs' keys. */
export const RENDER_REVISION = 2

/**
 * Makes the outputs of an image: decoded once, as large as the largest output needs, and each output drawn and encoded
 * from that. Upright, in sRGB, and each read again before it is given out. The same bytes on every run.
 *
 * @throws {PermanentError} when the image is at fault; {@link BadDerivative} when an output is not what it is to be
 */
export async function render(
  original: Buffer,
  limits: Limits,
  { preset, strict, exposeGps }: RenderPlan,
): Promise<Rendering> {
  const stopwatch = startStopwatch()
  const facts = inspect(original, limits)
  let planned: PlannedOutput[] = []
  const choose = (source: Size) => {
    const decided = planOutputs(preset, source, framesOf(facts), limits)
    planned = decided.planned
    return decided.working
  }
  const { linear, keepCopyright } = preset
  const decoded = await stopwatch.time('decodeMs', () => decode(original, facts, limits, choose, { linear }))
  if (strict) refuseLeniency(decoded.warnings)
  const rights = keepCopyright ? copyrightOf(decoded.source) : {}
  const outputs = await makeOutputs(decoded.picture, planned, { linear, rights }, stopwatch)
  return {
    outputs,
    warnings: [...decoded.warnings, ...outputWarnings(facts, decoded.picture, planned)],
    facts: sourceFacts(facts, decoded, { exposeGps }),
    cost: { ...stopwatch.spent, peakRssBytes: peakRssBytes() },
  }
}

/** The API has refused all of this before; a process that takes bytes from a store relies on nobody's word. */
function inspect(original: Buffer, limits: Limits): ImageFacts {
  const inspector = createInspector(limits)
  const verdict = inspector.push(original) ?? inspector.end()
  if (verdict.ok) return verdict.facts
  const { code, message } = verdict
  throw new PermanentError(code === 'empty_body' ? 'corrupt' : code, message)
}

/** Of an animation that is decoded here. */
function framesOf({ type, animated, frames = 1 }: ImageFacts): number {
  return animated && (type === 'gif' || type === 'webp') ? frames : 1
}

function outputWarnings(
  facts: ImageFacts,
  picture: Picture,
  planned: readonly PlannedOutput[],
): ImageWarning[] {
  const warnings: ImageWarning[] = []
  // Of an animated PNG, decoding has already said more.
  if (facts.animated && facts.type !== 'png') {
    const still = planned.filter(({ plan }) => picture.frames === 1 || !keepsAnimation(plan))
    const names = still.map(({ plan }) => plan.name).join(', ')
    const message = `the first frame of the animation is all that is shown by: ${names}`
    if (still.length > 0) warnings.push(warning('animation_dropped', message))
  }
  const clamped = planned.filter(({ layout }) => layout.clamped)
  if (clamped.length > 0) {
    const sizes = clamped.map(
      ({ plan, layout: { canvas } }) => `${plan.name} to ${canvas.width} × ${canvas.height}`,
    )
    const message = `made smaller, because a format or a limit allows no more: ${sizes.join(', ')}`
    warnings.push(warning('output_clamped', message))
  }
  return warnings
}

/** Names of outputs may be many and long; the worker takes no more from a rendering process. */
function warning(code: ImageWarning['code'], message: string): ImageWarning {
  return { code, message: message.slice(0, MOST_CHARACTERS) }
}

const MOST_CHARACTERS = 1_000
