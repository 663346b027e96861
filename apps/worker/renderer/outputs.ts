import { IMAGE_TYPES } from '../../../core/image/verdict.ts'
import type { Limits } from '../../../core/limits.ts'
import type { RenderedOutput } from '../../../core/ports/renderer.ts'
import type { OutputFormat, OutputPlan, Preset } from '../../../core/preset.ts'
import { outputDelays } from './animation.ts'
import { type Canvas, draw } from './draw.ts'
import { type EncodeOptions, encode, type Rights } from './encode.ts'
import { enclosing, type Layout, layOut } from './fit.ts'
import type { Picture, Size } from './picture.ts'
import { BadDerivative } from './reread/part.ts'
import { reread } from './reread/reread.ts'
import type { Stopwatch } from './stopwatch.ts'
import { isTransparent } from './transparency.ts'
import { keepsAnimation, MAX_SIDE, variantsOf } from './variants.ts'

/** An output of the preset, its sizes decided. */
export interface PlannedOutput {
  plan: OutputPlan
  layout: Layout
}

/**
 * Decides the sizes of all outputs, and from what picture they can be made: its size, and how many frames of it.
 *
 * @param source the image, upright
 * @param frames how many it has to show
 */
export function planOutputs(
  preset: Preset,
  source: Size,
  frames: number,
  { maxPixels }: Limits,
): { planned: PlannedOutput[]; working: Size & { frames: number } } {
  const planned = preset.outputs.map((plan): PlannedOutput => {
    const room = { maxSide: MAX_SIDE[plan.format], maxPixels, frames: keepsAnimation(plan) ? frames : 1 }
    return { plan, layout: layOut(plan, source, room) }
  })
  const animated = planned.some(({ plan }) => keepsAnimation(plan))
  const size = enclosing(planned.map(({ layout }) => layout.working))
  return { planned, working: { ...size, frames: animated ? frames : 1 } }
}

/** Draws each output once, and encodes it in each of its formats. */
export async function makeOutputs(
  picture: Picture,
  planned: readonly PlannedOutput[],
  { linear, rights }: { linear: boolean; rights: Rights },
  stopwatch: Stopwatch,
): Promise<RenderedOutput[]> {
  const outputs: RenderedOutput[] = []
  for (const { plan, layout } of planned) {
    const frames = keepsAnimation(plan) ? picture.frames : 1
    const canvas = await stopwatch.time('resizeMs', () => draw(picture, layout, plan, { frames, linear }))
    const transparent = isTransparent(canvas)
    const timing =
      frames > 1 ? { delaysMs: outputDelays(picture.delaysMs ?? []), loop: picture.loop ?? 0 } : null
    const options = { quality: plan.quality, background: plan.background, timing, rights }
    for (const format of variantsOf(plan, { transparent, animated: frames > 1 })) {
      const output = await stopwatch.time('encodeMs', () => make(canvas, transparent, format, options))
      outputs.push({ name: plan.name, ...output })
    }
  }
  return outputs
}

async function make(
  canvas: Canvas,
  transparent: boolean,
  format: OutputFormat,
  options: EncodeOptions,
): Promise<Omit<RenderedOutput, 'name'>> {
  const body = await encode(canvas, transparent, format, options)
  const seen = reread(body, format, Object.keys(options.rights).length > 0)
  if (seen.width !== canvas.width || seen.height !== canvas.height) {
    throw new BadDerivative(`is ${seen.width} × ${seen.height} instead of ${canvas.width} × ${canvas.height}`)
  }
  return { format, contentType: IMAGE_TYPES[format].contentType, ...seen, body }
}
