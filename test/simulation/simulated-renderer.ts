import { createHash } from 'node:crypto'
import { PermanentError, WorkError } from '../../core/errors.ts'
import type { RenderedOutput, Renderer } from '../../core/ports/renderer.ts'
import { COST, FACTS, STILL_JPEG } from '../job-result.ts'
import { collect } from './memory/memory-object-store.ts'
import { decodeImage, type SimulatedImage } from './simulated-image.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** What an attempt's rendering came to, for whoever counts. */
export type RenderListener = (process: SimulatedProcess, image: SimulatedImage, sha256: string) => void

/** Outputs are a function of the source's bytes and their names alone; how rendering goes, the image says itself. */
export function createSimulatedRenderer(process: SimulatedProcess, onPoison: RenderListener): Renderer {
  return {
    engine: 'simulated-1',
    async render(source, { preset }, signal) {
      const bytes = await collect(source.body)
      const image = decodeImage(bytes)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      await process.clock.sleep(image.kind === 'hanging' ? FOR_EVER_MS : image.renderMs, signal)
      switch (image.kind) {
        case 'corrupt':
          throw new PermanentError('corrupt', 'the image is corrupt')
        case 'killing':
          onPoison(process, image, sha256)
          process.kill('the image takes it down')
          return new Promise(() => {})
        case 'crashing':
          onPoison(process, image, sha256)
          throw new WorkError('renderer_crashed', 'the renderer crashed')
        case 'flaky':
          if (process.random.chance(0.5)) throw new WorkError('renderer_crashed', 'the renderer crashed')
      }
      const outputs = preset.outputs.map(({ name }): RenderedOutput => {
        const body = createHash('sha512').update(name).update(bytes).digest()
        return { name, ...STILL_JPEG, width: 1, height: 1, body }
      })
      return { outputs, warnings: [], facts: FACTS, cost: COST }
    },
  }
}

const FOR_EVER_MS = 30 * 86_400_000
