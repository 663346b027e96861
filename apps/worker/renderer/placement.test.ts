import { describe, expect, it } from 'vitest'
import type { Position } from '../../../core/preset.ts'
import { cutAt, placeAt } from './placement.ts'

const WIDE = { width: 300, height: 100 }
const PART = { width: 100, height: 100 }

describe('what is cut out', () => {
  it.each<[position: Position, left: number]>([
    ['centre', 100],
    ['north', 100],
    ['west', 0],
    ['northwest', 0],
    ['east', 200],
    ['southeast', 200],
    [{ x: 0.5, y: 0.5 }, 100],
    [{ x: 0.25, y: 0 }, 25],
    [{ x: 0, y: 0 }, 0],
    [{ x: 1, y: 1 }, 200],
  ])('at %o begins %i from the left', (position, left) => {
    expect(cutAt(position, WIDE, PART)).toEqual({ left, top: 0 })
  })

  it('is the same from the top of a high picture', () => {
    const high = { width: 100, height: 300 }
    expect(cutAt('south', high, PART)).toEqual({ left: 0, top: 200 })
    expect(cutAt('northeast', high, PART)).toEqual({ left: 0, top: 0 })
    expect(cutAt({ x: 0.9, y: 0.75 }, high, PART)).toEqual({ left: 0, top: 175 })
  })
})

it('places a picture on its canvas by side or corner, and in the centre for a point or attention', () => {
  const canvas = { width: 300, height: 201 }
  expect(placeAt('southeast', canvas, PART)).toEqual({ left: 200, top: 101 })
  expect(placeAt('north', canvas, PART)).toEqual({ left: 100, top: 0 })
  for (const position of ['centre', 'attention', { x: 0, y: 0 }] as const) {
    expect(placeAt(position, canvas, PART)).toEqual({ left: 100, top: 51 })
  }
})
