import { describe, expect, it } from 'vitest'
import { exif } from '../../test/images/bytes/exif.ts'
import { exifOrientation, upright } from './orientation.ts'

describe('the orientation of an EXIF block', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('is read in both byte orders: %i', (orientation) => {
    expect(exifOrientation(exif(orientation, true))).toBe(orientation)
    expect(exifOrientation(exif(orientation, false))).toBe(orientation)
  })

  it.each([0, 9, 6_000])('is 1 where it does not exist: %i', (orientation) => {
    expect(exifOrientation(exif(orientation))).toBe(1)
  })

  it('is read behind the mark that JPEG and some WebP files put before it', () => {
    expect(exifOrientation(Buffer.concat([Buffer.from('Exif\0\0'), exif(6)]))).toBe(6)
  })

  it('is 1 for a block that is cut off or is none', () => {
    for (let bytes = 0; bytes < 20; bytes++) expect(exifOrientation(exif(6).subarray(0, bytes))).toBe(1)
    expect(exifOrientation(Buffer.alloc(100, 0xff))).toBe(1)
    const farAway = exif(6)
    farAway.writeUInt32LE(0xffffffff, 4)
    expect(exifOrientation(farAway)).toBe(1)
  })

  it('lays the image on its side from 5 on', () => {
    expect([4, 5, 8].map((orientation) => upright(3, 2, orientation))).toEqual([
      { width: 3, height: 2 },
      { width: 2, height: 3 },
      { width: 2, height: 3 },
    ])
  })
})
