import { describe, expect, it } from 'vitest'
import { readRange } from './byte-range.ts'

describe('a Range over 10 bytes', () => {
  it.each([
    ['bytes=0-3', { first: 0, last: 3 }],
    ['bytes=4-', { first: 4, last: 9 }],
    ['bytes=-3', { first: 7, last: 9 }],
    ['bytes=-30', { first: 0, last: 9 }],
    ['bytes=8-99', { first: 8, last: 9 }],
    ['Bytes=9-9', { first: 9, last: 9 }],
  ])('reads %s', (header, range) => {
    expect(readRange(header, 10)).toEqual(range)
  })

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])('cannot satisfy %s', (header) => {
    expect(readRange(header, 10)).toBe('unsatisfiable')
  })

  it.each([
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=3-1',
    'bytes=0-1,4-5',
    'lines=1-2',
    'bytes=a-b',
    `bytes=0-${'9'.repeat(99)}`,
  ])('ignores %s', (header) => {
    expect(readRange(header, 10)).toBe('whole')
  })
})
