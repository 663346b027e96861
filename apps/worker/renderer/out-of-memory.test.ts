import { describe, expect, it } from 'vitest'
import { saysOutOfMemory } from './out-of-memory.ts'

describe('the words of a program that got no memory', () => {
  it.each([
    'vips_tracked: out of memory --- size == 120MB',
    'VipsJpeg: Insufficient memory (case 4)',
    'heif: Memory allocation error: Unspecified (6.0)',
    '\n(process:14435): GLib-ERROR **: 05:40:10.505: ../glib/gmem.c:139: failed to allocate 3000 bytes',
    "terminate called after throwing an instance of 'std::bad_alloc'",
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    'RangeError: Array buffer allocation failed',
    'Failed to allocate memory',
    'memory allocation failed',
  ])('are known: %s', (words) => {
    expect(saysOutOfMemory(words)).toBe(true)
  })

  it.each([
    'VipsJpeg: premature end of JPEG image',
    'tiff: out of memory reading directory',
    'heif: Memory allocation error: Security limit exceeded: the limit is 32768 tiles',
    '',
  ])('are not: %s', (words) => {
    expect(saysOutOfMemory(words)).toBe(false)
  })
})
