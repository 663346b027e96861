import { expect, it } from 'vitest'
import { inHundredths, outputDelays } from './animation.ts'

const sum = (numbers: number[]) => numbers.reduce((total, value) => total + value, 0)

it('shows a frame for as long as its file says, and for 100 ms where that is 10 ms or less', () => {
  expect(outputDelays([0, 10, 11, 20, 40, 15_000])).toEqual([100, 100, 11, 20, 40, 15_000])
})

it('gives the encoder no delay that it refuses', () => {
  expect(outputDelays([655_350])).toEqual([65_535])
})

it('rounds to hundredths of a second without adding up errors', () => {
  expect(inHundredths([33, 33, 33, 33, 33, 33])).toEqual([30, 40, 30, 30, 40, 30])
  expect(inHundredths([120, 90, 30])).toEqual([120, 90, 30])
  const film = Array.from({ length: 1_000 }, () => 16)
  expect(inHundredths(film).every((ms) => ms >= 20 && ms % 10 === 0)).toBe(true)
  const slow = Array.from({ length: 1_000 }, (_, i) => 30 + (i % 7))
  expect(Math.abs(sum(inHundredths(slow)) - sum(slow))).toBeLessThanOrEqual(5)
})
