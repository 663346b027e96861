import { expect, it } from 'vitest'
import { openRenderer } from '../../apps/worker/renderer/pool.ts'
import { HAS_PROC, renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import { sharedImages, sharedImagesCount, testImages } from '../images.ts'
import { DEFAULT_PLAN } from '../job-result.ts'
import { becomeOf } from './became.ts'

const IMAGES = 400
const IN_FLIGHT = 4

/**
 * What the parent may hold more after the last hundred than after the first. It holds no original as a whole: 400 of
 * them, kept, would be 200 MB and more.
 */
const GROWTH_BYTES = 50_000_000

// Of the public bug reports, the others of which are in scenarios.test.ts, this is the twentieth.
it(`20: the memory of the parent stays as it is over ${IMAGES} mixed images, ${IN_FLIGHT} in flight`, {
  timeout: 300_000,
}, async () => {
  const { images } = sharedImages()
  const originals = [
    ...(await testImages()).map(({ bytes }) => bytes),
    ...images.map((image) => image.read()),
  ]
  const renderer = await openRenderer({ concurrency: IN_FLIGHT, limits: DEFAULT_LIMITS })
  const became: Record<string, number> = {}
  const held: number[] = []
  let next = 0
  try {
    while (next < IMAGES) {
      const until = next + IMAGES / 4
      await Promise.all(
        Array.from({ length: IN_FLIGHT }, async () => {
          while (next < until) {
            const bytes = originals[next++ % originals.length]!
            const { kind } = await becomeOf(renderer, bytes, DEFAULT_PLAN, DEFAULT_LIMITS)
            became[kind] = (became[kind] ?? 0) + 1
          }
        }),
      )
      held.push(process.memoryUsage.rss())
    }
    if (HAS_PROC) expect(renderProcessesOf()).toHaveLength(IN_FLIGHT)
  } finally {
    await renderer.close()
  }
  const megabytes = held.map((bytes) => Math.round(bytes / 1e6))
  console.log(
    `${IMAGES} of ${originals.length} images (${sharedImagesCount()}): ` +
      `${JSON.stringify(became)}; the parent after each hundred: ${megabytes.join(', ')} MB`,
  )
  if (HAS_PROC) expect(renderProcessesOf()).toEqual([])
  expect(held.at(-1)! - held[0]!).toBeLessThan(GROWTH_BYTES)
})
