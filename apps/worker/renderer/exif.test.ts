import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../test/simulation/seeded-random.ts'
import { readExif } from './exif.ts'
import { type ExifFields, exifBlock } from './testing/exif-block.ts'

const NIKON: ExifFields = {
  make: 'NIKON',
  model: 'COOLPIX P6000',
  takenAt: '2008:10:22 16:28:39',
  copyright: '© Ada',
  latitude: [
    'N',
    [
      [43, 1],
      [28, 1],
      [281400, 10_000],
    ],
  ],
  longitude: [
    'W',
    [
      [11, 1],
      [53, 1],
      [645, 100],
    ],
  ],
}

describe('EXIF', () => {
  it.each([true, false])('tells camera, time, place and rights (little-endian: %s)', (littleEndian) => {
    expect(readExif(exifBlock(NIKON, littleEndian))).toEqual({
      make: 'NIKON',
      model: 'COOLPIX P6000',
      capturedAt: '2008-10-22T16:28:39',
      copyright: '© Ada',
      gps: { latitude: 43.4744833, longitude: -11.885125 },
    })
  })

  it('may begin with its mark', () => {
    const marked = Buffer.concat([Buffer.from('Exif\0\0'), exifBlock({ make: 'LG' })])
    expect(readExif(marked)).toEqual({ make: 'LG' })
  })

  it('has an offset of its time only where the camera wrote one', () => {
    const at = (takenAt: string, offset?: string) =>
      readExif(exifBlock({ takenAt, ...(offset && { offset }) })).capturedAt
    expect(at('2020:02:29 01:02:03', '+09:00')).toBe('2020-02-29T01:02:03+09:00')
    expect(at('2020:02:29 01:02:03', 'JST')).toBe('2020-02-29T01:02:03')
    expect(at('2019:02:29 01:02:03')).toBeUndefined()
    expect(at('0000:00:00 00:00:00')).toBeUndefined()
    expect(at('    :  :     :  :  ')).toBeUndefined()
  })

  it('has texts without what controls a terminal, of 200 characters at most', () => {
    const { make, model } = readExif(
      exifBlock({ make: '\u001b[31mEvil\u202e\n corp ', model: 'x'.repeat(999) }),
    )
    expect(make).toBe('[31mEvil corp')
    expect(model).toBe('x'.repeat(200))
  })

  it('tells no place that is none', () => {
    for (const latitude of [
      [
        'N',
        [
          [91, 1],
          [0, 1],
          [0, 1],
        ],
      ],
      [
        'X',
        [
          [1, 1],
          [0, 1],
          [0, 1],
        ],
      ],
      [
        'N',
        [
          [1, 0],
          [0, 1],
          [0, 1],
        ],
      ],
    ] satisfies ExifFields['latitude'][]) {
      expect(readExif(exifBlock({ ...NIKON, latitude })).gps).toBeUndefined()
    }
  })

  it('is never an error, cut off anywhere or damaged anyhow', () => {
    const whole = exifBlock(NIKON)
    for (let bytes = 0; bytes < whole.length; bytes++) readExif(whole.subarray(0, bytes))
    const random = seededRandom('exif')
    for (let i = 0; i < 3_000; i++) {
      const damaged = Buffer.from(whole)
      for (let k = 0; k < 3; k++) damaged[random.int(0, damaged.length - 1)] = random.int(0, 255)
      expect(() => readExif(damaged)).not.toThrow()
    }
  })
})
