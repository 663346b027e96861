import { describe, expect, it } from 'vitest'
import type { OutputPlan } from '../../../core/preset.ts'
import { layOut, type Room } from './fit.ts'

const ROOM: Room = { maxSide: 16_383, maxPixels: 100_000_000, frames: 1 }
const size = (text: string) => {
  const [width, height] = text.split('×').map(Number)
  return { width: width!, height: height! }
}
const asText = ({ width, height }: { width: number; height: number }) => `${width}×${height}`

type Asked = Partial<Pick<OutputPlan, 'width' | 'height' | 'fit' | 'enlarge'>>

function layout(asked: Asked, source: string, room: Partial<Room> = {}) {
  const plan = { width: null, height: null, fit: 'inside' as const, enlarge: false, ...asked }
  return layOut(plan, size(source), { ...ROOM, ...room })
}

describe('the size of an output', () => {
  it.each<
    [fit: OutputPlan['fit'], box: string, source: string, enlarge: boolean, canvas: string, picture: string]
  >([
    ['inside', '320×320', '600×397', false, '320×212', '320×212'],
    ['inside', '320×320', '397×600', false, '212×320', '212×320'],
    ['inside', '320×320', '320×321', false, '319×320', '319×320'],
    ['inside', '320×320', '100×50', false, '100×50', '100×50'],
    ['inside', '320×320', '100×50', true, '320×160', '320×160'],
    ['inside', '320×320', '65500×1', false, '320×1', '320×1'],
    ['inside', '320×320', '1×4000', false, '1×320', '1×320'],
    ['cover', '300×200', '600×600', false, '300×200', '300×200'],
    ['cover', '100×400', '600×600', false, '100×400', '100×400'],
    ['cover', '320×320', '1000×200', false, '200×200', '200×200'],
    ['cover', '400×200', '100×100', false, '100×50', '100×50'],
    ['cover', '400×200', '100×100', true, '400×200', '400×200'],
    ['cover', '320×320', '65500×1', false, '1×1', '1×1'],
    ['cover', '320×320', '65500×1', true, '320×320', '320×320'],
    ['contain', '300×200', '600×600', false, '300×200', '200×200'],
    ['contain', '300×200', '100×50', false, '300×200', '100×50'],
    ['contain', '300×200', '100×50', true, '300×200', '300×150'],
    ['contain', '300×200', '20000×4', false, '300×200', '300×1'],
  ])(
    '%s %s of %s, enlarging %s, is %s with a picture of %s',
    (fit, box, source, enlarge, canvas, picture) => {
      const got = layout({ ...size(box), fit, enlarge }, source)
      expect([asText(got.canvas), asText(got.picture), got.clamped]).toEqual([canvas, picture, false])
    },
  )

  it.each<[asked: Asked, source: string, canvas: string]>([
    [{ width: 300 }, '600×400', '300×200'],
    [{ height: 100 }, '600×400', '150×100'],
    [{ width: 300, fit: 'cover' }, '600×400', '300×200'],
    [{ height: 100, fit: 'contain' }, '600×400', '150×100'],
    [{ height: 800 }, '600×400', '600×400'],
    [{ height: 800, enlarge: true }, '600×400', '1200×800'],
    [{}, '600×400', '600×400'],
    [{ enlarge: true }, '600×400', '600×400'],
  ])('follows from the side that is given: %o of %s is %s', (asked, source, canvas) => {
    expect(asText(layout(asked, source).canvas)).toBe(canvas)
  })

  it.each<[asked: Asked, source: string, room: Partial<Room>, canvas: string]>([
    [{}, '20000×4', {}, '16383×3'],
    [{}, '4×20000', {}, '3×16383'],
    [{ width: 20_000, height: 1_000, fit: 'contain' }, '100×50', {}, '16383×819'],
    [{ width: 20_000, height: 10_000, fit: 'cover', enlarge: true }, '100×50', {}, '14142×7071'],
    [{ width: 200, enlarge: true }, '1×1', { frames: 1_000, maxPixels: 10_000_000 }, '100×100'],
    [{ width: 10, height: 10, fit: 'cover' }, '1000×10', { frames: 100, maxPixels: 250_000 }, '5×5'],
  ])('keeps to the room that there is: %o of %s in %o is %s', (asked, source, room, canvas) => {
    const got = layout(asked, source, room)
    expect([asText(got.canvas), got.clamped]).toEqual([canvas, true])
  })
})

describe('the picture that an output is made from', () => {
  it.each<[asked: Asked, source: string, working: string]>([
    [{ width: 320, height: 320 }, '3000×2000', '320×213'],
    [{ width: 320, height: 320, fit: 'cover' }, '3000×2000', '480×320'],
    [{ width: 320, height: 320, fit: 'contain' }, '3000×2000', '320×213'],
    [{ width: 9_000, enlarge: true }, '3000×2000', '3000×2000'],
    [{ width: 320, height: 320, fit: 'cover', enlarge: true }, '65500×1', '65500×1'],
  ])('%o of %s is %s, and never larger than the source', (asked, source, working) => {
    expect(asText(layout(asked, source).working)).toBe(working)
  })
})

it('gives no side of 0, and nothing larger than asked or than there is room for', () => {
  const lengths = [1, 2, 3, 7, 50, 319, 320, 4_000, 65_500]
  for (const width of lengths) {
    for (const height of lengths) {
      for (const fit of ['inside', 'cover', 'contain'] as const) {
        for (const enlarge of [false, true]) {
          for (const box of [size('320×320'), size('1×700'), size('16×9')]) {
            const source = { width, height }
            const got = layOut({ ...box, fit, enlarge }, source, ROOM)
            for (const { width, height } of [got.canvas, got.picture, got.working]) {
              expect(Math.min(width, height)).toBeGreaterThanOrEqual(1)
            }
            const within = (a: typeof source, b: typeof source) => a.width <= b.width && a.height <= b.height
            expect(within(got.canvas, box) && within(got.picture, got.canvas)).toBe(true)
            expect(within(got.working, source) && (enlarge || within(got.picture, got.working))).toBe(true)
          }
        }
      }
    }
  }
})
