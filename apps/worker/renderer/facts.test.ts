import sharp from 'sharp'
import { thumbHashToAverageRGBA } from 'thumbhash'
import { describe, expect, it } from 'vitest'
import { jpegSegment } from '../../../test/images/bytes/jpeg.ts'
import { type TiffField, tiff, tiffImage } from '../../../test/images/bytes/tiff.ts'
import { factsOf } from '../../../test/images/inspect.ts'
import { picture } from '../../../test/images/picture.ts'
import { testImage } from '../../../test/images.ts'
import { sourceFacts } from './facts.ts'
import { decoded } from './testing/decoded.ts'
import { type ExifFields, exifBlock } from './testing/exif-block.ts'
import { displayP3, withProfile } from './testing/icc-profile.ts'
import { withChunk } from './testing/tagged-png.ts'

const EXIF: ExifFields = {
  make: 'NIKON',
  model: 'P6000',
  takenAt: '2008:10:22 16:28:39',
  latitude: [
    'N',
    [
      [43, 1],
      [30, 1],
      [0, 1],
    ],
  ],
  longitude: [
    'E',
    [
      [11, 1],
      [0, 1],
      [0, 1],
    ],
  ],
}

async function facts(original: Buffer, exposeGps = false, side = 320) {
  return sourceFacts(factsOf(original), await decoded(original, { side }), { exposeGps })
}

async function withExif(block: Buffer): Promise<Buffer> {
  const jpeg = await picture({ width: 60, height: 40 }).jpeg().toBuffer()
  const segment = jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), block]))
  return Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)])
}

describe('the facts of an image', () => {
  it('are of the original, upright, whatever the working size', async () => {
    expect(await facts((await testImage('jpeg-orientation-6')).bytes, false, 32)).toMatchObject({
      type: 'image/jpeg',
      width: 480,
      height: 320,
      pages: 1,
      durationMs: null,
      loop: null,
      alpha: false,
      colourSpace: 'srgb',
      profile: 'sRGB',
      bitDepth: 8,
    })
  })

  it.each([
    ['gif-animated', { pages: 5, durationMs: 600, loop: 0 }],
    ['webp-animated', { pages: 5, durationMs: 600, loop: 3 }],
    ['png-animated', { pages: 3, durationMs: 300, loop: 0 }],
    ['tiff-two-pages', { pages: 2, durationMs: null, loop: null }],
    ['png-16-bit', { bitDepth: 16, colourSpace: 'rgb16' }],
    ['png-grey-alpha', { alpha: true, colourSpace: 'b-w' }],
    ['png-display-p3', { profile: expect.stringMatching(/P3|sP3C/) }],
  ] as const)('of %s', async (name, expected) => {
    expect(await facts((await testImage(name)).bytes)).toMatchObject(expected)
  })

  it('name the profile, or what the colours are tagged as', async () => {
    const png = await picture({ width: 60, height: 40 }).png().toBuffer()
    expect((await facts(withProfile(png, await displayP3()))).profile).not.toBeNull()
    const tagged = withChunk(png, 'cICP', Buffer.from([9, 16, 0, 1]))
    expect(await facts(tagged)).toMatchObject({ profile: null, colourSpace: 'bt2020-pq' })
  })

  it('tell camera and time, and the place only where that is wanted', async () => {
    const original = await withExif(exifBlock(EXIF))
    const quiet = await facts(original)
    expect(quiet).toMatchObject({
      camera: { make: 'NIKON', model: 'P6000' },
      capturedAt: '2008-10-22T16:28:39',
    })
    expect('gps' in quiet).toBe(false)
    expect((await facts(original, true)).gps).toEqual({ latitude: 43.5, longitude: 11 })
  })

  it('tell a TIFF’s camera', async () => {
    const place: TiffField[] = [
      [271, 2, 'Scanner'],
      [273, 4, 8],
      [278, 4, 4],
      [279, 4, 48],
    ]
    const fields = tiffImage(4, 4, ...place).sort(([a], [b]) => a - b)
    const scan = tiff([fields], { before: Buffer.alloc(48, 99) })
    expect((await facts(scan)).camera).toEqual({ make: 'Scanner' })
  })

  it('are without what EXIF would tell where that is nonsense', async () => {
    const broken = await withExif(Buffer.from('II*\0\xff\xff\xff\xff', 'latin1'))
    expect(await facts(broken, true)).toMatchObject({ camera: null, capturedAt: null, width: 60 })
  })

  it('have the picture’s colours and a placeholder of it', async () => {
    const half = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#20a040' } })
      .extend({ right: 20, background: '#e0e0e0' })
      .png()
      .toBuffer()
    const { palette, dominant, thumbhash } = await facts(half)
    expect(palette).toEqual(['#20a040', '#e0e0e0'])
    expect(dominant).toBe('#20a040')
    const { r, g, b } = thumbHashToAverageRGBA(Buffer.from(thumbhash, 'base64'))
    expect(r * 255).toBeCloseTo((0x20 * 2 + 0xe0) / 3, -1.5)
    expect(g * 255).toBeCloseTo((0xa0 * 2 + 0xe0) / 3, -1.5)
    expect(b * 255).toBeCloseTo((0x40 * 2 + 0xe0) / 3, -1.5)
  })

  it('of a picture of nothing have no colour', async () => {
    const clear = await sharp({ create: { width: 9, height: 9, channels: 4, background: '#0000' } })
      .png()
      .toBuffer()
    expect(await facts(clear)).toMatchObject({ palette: [], dominant: '#000000' })
  })

  it('are the same on every run', async () => {
    const { bytes } = await testImage('jpeg-orientation-1')
    expect(await facts(bytes)).toEqual(await facts(bytes))
  })
})
