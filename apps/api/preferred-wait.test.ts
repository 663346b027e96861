import { expect, it } from 'vitest'
import { preferredWait } from './preferred-wait.ts'

it.each([
  [undefined, null],
  ['', null],
  ['wait=10', 10],
  ['Wait = 10', 10],
  ['wait="10"', 10],
  ['respond-async, wait=10; x=y', 10],
  ['wait=61', 60],
  ['wait=999999999', 60],
  ['wait=0', 0],
  ['wait=5, wait=10', 5],
  ['wait=soon, wait=10', null],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['wait', null],
  ['waiting=10', null],
])('Prefer: %s is a wait of %s seconds', (header, seconds) => {
  expect(preferredWait(header)).toBe(seconds)
})
