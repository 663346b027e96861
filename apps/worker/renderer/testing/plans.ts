import type { RenderPlan } from '../../../../core/ports/renderer.ts'
import { DEFAULT_PRESET, type OutputPlan, type Preset } from '../../../../core/preset.ts'

/** One output of the image's own size as PNG, unless asked otherwise. */
export function outputPlan(asked: Partial<OutputPlan> = {}): OutputPlan {
  const [plan] = DEFAULT_PRESET.outputs
  return { ...plan!, name: 'out', width: null, height: null, format: 'png', ...asked }
}

/** A plan of the outputs, with the default preset's answers to all that is not asked. */
export function renderPlan(
  outputs: readonly Partial<OutputPlan>[],
  asked: Partial<Omit<Preset, 'outputs'>> = {},
): RenderPlan {
  return {
    preset: { ...DEFAULT_PRESET, ...asked, outputs: outputs.map(outputPlan) },
    strict: false,
    exposeGps: false,
  }
}
