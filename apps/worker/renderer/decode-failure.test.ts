import { expect, it } from 'vitest'
import { PermanentError } from '../../../core/errors.ts'
import { decodeFailure } from './decode-failure.ts'

it.each([
  // As sharp 0.35.5 has worded them.
  ['VipsJpeg: premature end of JPEG image', 'truncated'],
  ['VipsJpeg: Corrupt JPEG data: premature end of data segment', 'corrupt'],
  ['VipsJpeg: Unsupported JPEG data precision 12', 'unsupported_type'],
  ['tiff2vips: Old-style JPEG compression support is not configured', 'unsupported_type'],
  ['Input buffer contains unsupported image format', 'corrupt'],
  ['Input image exceeds pixel limit', 'too_many_pixels'],
  ['gifload_buffer: Unexpected end of GIF source data', 'truncated'],
  [
    'tiff2vips: Failed to allocate memory for to read TIFF directory (0 elements of 12 bytes each)',
    'corrupt',
  ],
  ['heif: Memory allocation error: Security limit exceeded (2.1000)', 'corrupt'],
  ['something that was never said before', 'corrupt'],
])('the image is at fault when its decoder says "%s": %s', (said, code) => {
  const failure = decodeFailure(new Error(said), 'tiff')
  expect(failure).toBeInstanceOf(PermanentError)
  expect(failure).toMatchObject({ code, message: expect.stringMatching(/^the TIFF /) })
})

it.each([
  'vips_tracked: out of memory -- size == 762MB',
  'VipsJpeg: Insufficient memory (case 4)',
  'source: bad seek to 465144\nheif: Invalid input: Unspecified: Memory allocation error (2.0)',
])('the image is not at fault when its decoder says "%s"', (said) => {
  expect(decodeFailure(new Error(said), 'png')).toMatchObject({
    name: 'WorkError',
    code: 'renderer_out_of_memory',
  })
})

it('the sentence has one line of the decoder’s words, and not the one that says nothing', () => {
  const said = 'Warning treated as error due to failOn setting\nIHDR: CRC error\nmore'
  expect(decodeFailure(new Error(said), 'png').message).toBe('the PNG is damaged: IHDR: CRC error')
})
