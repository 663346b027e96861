import { describe, expect, it } from 'vitest'
import { paletteOf } from './palette.ts'

/** A picture of one row, so many pixels of each colour. */
function row(...colours: [pixels: number, ...colour: number[]][]) {
  const data = Buffer.from(colours.flatMap(([pixels, ...colour]) => Array(pixels).fill(colour).flat()))
  const channels = (colours[0]!.length - 1) as 3 | 4
  return { width: data.length / channels, height: 1, channels, frames: 1, data }
}

describe('a palette', () => {
  it('has the colours of a picture, the most frequent first', () => {
    const flag = row([30, 200, 16, 46], [60, 255, 255, 255], [20, 33, 70, 139])
    expect(paletteOf(flag, 5)).toEqual(['#ffffff', '#c8102e', '#21468b'])
  })

  it('has no more than are asked for, near ones together', () => {
    const many = row(
      ...Array.from({ length: 64 }, (_, i): [number, ...number[]] => [3, i * 4, 255 - i * 4, 128]),
    )
    expect(paletteOf(many, 5)).toHaveLength(5)
  })

  it('keeps a small patch that differs much', () => {
    const sky = row([900, 120, 160, 220], [90, 124, 164, 224], [12, 250, 20, 20])
    expect(paletteOf(sky, 2)).toEqual(['#78a0dc', '#fa1414'])
  })

  it('sees nothing of what is transparent', () => {
    expect(paletteOf(row([10, 255, 0, 0, 0], [2, 0, 0, 255, 255]), 5)).toEqual(['#0000ff'])
    expect(paletteOf(row([10, 255, 0, 0, 0]), 5)).toEqual([])
  })

  it('is the same on every run', () => {
    const noise = row(
      ...Array.from({ length: 500 }, (_, i): [number, ...number[]] => [
        1,
        (i * 97) % 256,
        (i * 31) % 256,
        (i * 7) % 256,
      ]),
    )
    expect(paletteOf(noise, 5)).toEqual(paletteOf(noise, 5))
  })
})
