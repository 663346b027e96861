import { describe, expect, it } from 'vitest'
import type { RefusalCode } from '../../core/image/verdict.ts'
import { type SharedImage, sharedImages } from '../images.ts'
import { inspect } from './inspect.ts'

const { images, absent } = sharedImages()

/** What a pass over the bytes may answer to each outcome of the manifest; null: accepted, for the decoder to judge. */
const ANSWERS: [outcome: RegExp, answers: (RefusalCode | null)[]][] = [
  [/^accept/, [null]],
  [/^reject TOO_MANY_PIXELS/, ['too_many_pixels']],
  [/^reject TOO_MANY_FRAMES/, ['too_many_frames']],
  [/^reject UNSUPPORTED/, ['unsupported_type']],
  [/^reject EMPTY/, ['empty_body']],
  [/^reject TRUNCATED/, ['truncated', null]],
  [/^reject CORRUPT/, ['corrupt', 'truncated', null]],
]

/** Where the manifest judges without the limit, or the switch, that this service has. */
function answers({ name, rightOutcome }: SharedImage): (RefusalCode | null)[] | undefined {
  // SVG is off unless an operator turns it on, whatever would become of it then.
  if (/\.svgz?$/.test(name)) return ['unsupported_type']
  // Nothing but a header, of more pixels than are accepted: the limit is met before the end.
  if (name === 'header-only-16000x16000.png') return ['too_many_pixels']
  return ANSWERS.find(([outcome]) => outcome.test(rightOutcome))?.[1]
}

describe.skipIf(images.length === 0)('the shared images', () => {
  it('are judged by their bytes as far as these tell, and the others are left to the decoder', () => {
    const deferred: string[] = []
    for (const image of images) {
      const verdict = inspect(image.read())
      const answer = verdict.ok ? null : verdict.code
      expect(answers(image), `${image.name}: ${image.rightOutcome}`).toContain(answer)
      if (verdict.ok && image.rightOutcome.startsWith('reject')) deferred.push(image.name)
    }
    console.log(
      `${images.length} shared images checked, ${absent.length} absent; left to the decoder: ${deferred.join(', ')}`,
    )
  })

  it('are seen in the proportions that the manifest tells', () => {
    let checked = 0
    for (const image of images) {
      const box = /^accept(?: \(policy\))? (\d+)x(\d+) in a 128 box/.exec(image.rightOutcome)
      const verdict = inspect(image.read())
      if (!box || !verdict.ok) continue
      const { width, height } = verdict.facts
      const scale = Math.min(1, 128 / width, 128 / height)
      // Within a pixel: how a half is rounded is the renderer's affair.
      expect(Math.abs(Math.max(1, width * scale) - Number(box[1])), image.name).toBeLessThanOrEqual(1)
      expect(Math.abs(Math.max(1, height * scale) - Number(box[2])), image.name).toBeLessThanOrEqual(1)
      checked++
    }
    expect(checked).toBeGreaterThan(0)
  })

  it('cost little to refuse', () => {
    const costs = images.flatMap((image) => {
      const bytes = image.read()
      const memory = process.memoryUsage().rss
      const start = process.cpuUsage()
      const verdict = inspect(bytes, undefined, 65_536)
      const { user, system } = process.cpuUsage(start)
      if (verdict.ok) return []
      const { rss } = process.memoryUsage()
      return [{ name: image.name, cpuMs: (user + system) / 1_000, memoryMb: Math.max(0, rss - memory) / 1e6 }]
    })
    expect(costs.length).toBeGreaterThan(0)
    const dearest = costs.toSorted((a, b) => b.cpuMs - a.cpuMs)[0]!
    const largest = costs.toSorted((a, b) => b.memoryMb - a.memoryMb)[0]!
    console.log(
      `${costs.length} refusals: at most ${dearest.cpuMs.toFixed(1)} ms of CPU (${dearest.name}), ` +
        `at most ${largest.memoryMb.toFixed(1)} MB more memory (${largest.name})`,
    )
  })
})

describe.skipIf(images.length > 0)('the shared images, of which none is here', () => {
  it('are looked for in the folder that IMG42_IMAGES names', () => {
    console.log('no shared images found: 0 checked')
    expect(absent).toEqual([])
  })
})
