import { describe, expect, it } from 'vitest'
import { type Answer, parseAnswer } from './messages.ts'

const RENDERED: Extract<Answer, { kind: 'rendered' }> = {
  kind: 'rendered',
  bytes: 9,
  rssBytes: 100_000_000,
  outputs: [{ name: 'thumbnail', contentType: 'image/webp', width: 320, height: 1, bytes: 9 }],
  warnings: [{ code: 'animation_dropped', message: 'only the first frame' }],
}
const output = (more: object) => ({ ...RENDERED, outputs: [{ ...RENDERED.outputs[0], ...more }] })
const failed = (error: object) => ({ kind: 'failed', bytes: 0, rssBytes: 1, error })

describe('an answer of a rendering process', () => {
  it.each([
    ['outputs', RENDERED],
    ['its engine', { kind: 'hello', bytes: 0, engine: 'sharp-0.35.5_vips-8.18.7_x64_r1' }],
    ['a refusal', failed({ class: 'permanent', code: 'corrupt', message: 'damaged' })],
    ['a failure', failed({ class: 'work', code: 'internal', message: 'a defect' })],
  ])('may be %s', (_, answer) => {
    expect(parseAnswer(answer as Answer)).toEqual(answer)
  })

  it.each([
    ['an engine that is no part of a key', { kind: 'hello', bytes: 0, engine: '../originals' }],
    ['an output’s name that is no part of a key', output({ name: '../thumbnail' })],
    ['another type than an image', output({ contentType: 'text/html' })],
    ['a type that scripts', output({ contentType: 'image/svg+xml' })],
    ['an output without height', output({ height: 0 })],
    ['outputs that are longer than the body', output({ bytes: 10 })],
    [
      'two outputs of one name',
      { ...RENDERED, bytes: 18, outputs: [RENDERED.outputs[0], RENDERED.outputs[0]] },
    ],
    [
      'a code that is none of a renderer',
      failed({ class: 'permanent', code: 'original_missing', message: '' }),
    ],
    ['a sentence without end', failed({ class: 'work', code: 'internal', message: 'x'.repeat(1_001) })],
    ['something else', { kind: 'shell', bytes: 0 }],
  ])('is refused with %s', (_, answer) => {
    expect(() => parseAnswer(answer as Answer)).toThrow()
  })
})
