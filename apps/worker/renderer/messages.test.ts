import { describe, expect, it } from 'vitest'
import { COST, FACTS } from '../../../test/job-result.ts'
import { type Answer, parseAnswer } from './messages.ts'

const RENDERED: Extract<Answer, { kind: 'rendered' }> = {
  kind: 'rendered',
  bytes: 9,
  rssBytes: 100_000_000,
  strained: false,
  outputs: [
    {
      ...{ name: 'thumbnail', format: 'webp', contentType: 'image/webp', bytes: 9 },
      ...{ width: 320, height: 1, frames: 1, durationMs: null },
    },
  ],
  facts: FACTS,
  cost: COST,
  warnings: [{ code: 'animation_dropped', message: 'only the first frame' }],
}
const CONFINEMENT = {
  ...{ user: 65_534, files: true, network: true, processes: true, noNewPrivileges: true },
  dataLimitBytes: null,
  mallocArenas: 2,
}
const output = (more: object) => ({ ...RENDERED, outputs: [{ ...RENDERED.outputs[0], ...more }] })
const failed = (error: object) => ({ kind: 'failed', bytes: 0, rssBytes: 1, strained: false, error })

describe('an answer of a rendering process', () => {
  it.each([
    ['outputs', RENDERED],
    [
      'its engine',
      { kind: 'hello', bytes: 0, engine: 'sharp-0.35.5_vips-8.18.7_x64_r1', confinement: CONFINEMENT },
    ],
    ['a refusal', failed({ class: 'permanent', code: 'corrupt', message: 'damaged' })],
    ['a failure', failed({ class: 'work', code: 'internal', message: 'a defect' })],
  ])('may be %s', (_, answer) => {
    expect(parseAnswer(answer as Answer)).toEqual(answer)
  })

  it.each([
    [
      'an engine that is no part of a key',
      { kind: 'hello', bytes: 0, engine: '../originals', confinement: CONFINEMENT },
    ],
    ['an output’s name that is no part of a key', output({ name: '../thumbnail' })],
    ['another type than an image', output({ contentType: 'text/html' })],
    ['a type that scripts', output({ contentType: 'image/svg+xml' })],
    ['an output without height', output({ height: 0 })],
    ['outputs that are longer than the body', output({ bytes: 10 })],
    [
      'two outputs of one name and format',
      { ...RENDERED, bytes: 18, outputs: [RENDERED.outputs[0], RENDERED.outputs[0]] },
    ],
    [
      'a code that is none of a renderer',
      failed({ class: 'permanent', code: 'original_missing', message: '' }),
    ],
    ['something else', { kind: 'shell', bytes: 0 }],
  ])('is refused with %s', (_, answer) => {
    expect(() => parseAnswer(answer as Answer)).toThrow()
  })

  it('is made fit to be stored: no endless sentences, no control characters, no halves of characters', () => {
    const camera = { make: 'Nikon\0\0', model: `D${'5'.repeat(300)}\ud83d` }
    const { facts } = parseAnswer({ ...RENDERED, facts: { ...FACTS, camera } } as Answer) as typeof RENDERED
    expect(facts.camera).toEqual({ make: 'Nikon ', model: `D${'5'.repeat(199)}` })
    const said = failed({ class: 'work', code: 'internal', message: `\ud800${'x'.repeat(1_001)}` })
    expect(parseAnswer(said as Answer)).toMatchObject({ error: { message: `\ufffd${'x'.repeat(999)}` } })
  })
})
