import { type Shown, shown } from '../../apps/worker/renderer/testing/pictures.ts'
import { sourceOf } from '../../apps/worker/renderer/testing/source.ts'
import { PermanentError, WorkError } from '../../core/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { Renderer, Rendering, RenderPlan } from '../../core/ports/renderer.ts'
import { inspect } from '../images/inspect.ts'

/** What becomes of an image: refused while it is uploaded, failed by its job, or a picture. */
export type Became =
  | { kind: 'refused' | 'failed'; code: string; message: string }
  | { kind: 'rendered'; rendering: Rendering; picture: Shown }

/** The longest that an image of the collections may take; what takes longer hangs, and is killed. */
export const HANGS_MS = 20_000

/** Sends an image the way that it goes in the service: past the inspector, and into a rendering process. */
export async function becomeOf(
  renderer: Renderer,
  bytes: Buffer,
  plan: RenderPlan,
  limits: Limits,
): Promise<Became> {
  const verdict = inspect(bytes, limits, 65_536)
  if (!verdict.ok) return { kind: 'refused', code: verdict.code, message: verdict.message }
  const deadline = AbortSignal.timeout(HANGS_MS)
  try {
    const rendering = await renderer.render(sourceOf(bytes), plan, deadline)
    return { kind: 'rendered', rendering, picture: await shown(rendering.outputs[0]!.body) }
  } catch (error) {
    if (deadline.aborted) return { kind: 'failed', code: 'timeout', message: `not done after ${HANGS_MS} ms` }
    if (!(error instanceof PermanentError || error instanceof WorkError)) throw error
    return { kind: 'failed', code: error.code, message: error.message }
  }
}

/** In a few words, for a table. */
export function shortly(became: Became): string {
  if (became.kind !== 'rendered') return `${became.kind}: ${became.code}`
  const { picture, rendering } = became
  const { pages, durationMs } = rendering.facts
  const codes = [...new Set(rendering.warnings.map(({ code }) => code))]
  return [
    `${picture.width}x${picture.height}`,
    pages > 1 && `${pages} pages`,
    durationMs !== null && `${durationMs} ms`,
    ...codes,
  ]
    .filter(Boolean)
    .join(', ')
}
