import sharp, { type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { jpegSegment } from '../../../../test/images/bytes/jpeg.ts'
import { chunksOf, PNG_SIGNATURE, pngChunk } from '../../../../test/images/bytes/png.ts'
import { film, picture } from '../../../../test/images/picture.ts'
import { BadDerivative } from './part.ts'
import { reread } from './reread.ts'

const SIZE = { width: 48, height: 32 }
const FORMATS = ['jpeg', 'png', 'webp', 'gif', 'avif'] as const
const GPS = { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' }

const encoded = (image: Sharp, format: (typeof FORMATS)[number]) =>
  image.toFormat(format, format === 'avif' ? { effort: 0 } : {}).toBuffer()
const still = () => picture(SIZE)

/** What comes behind the first segment. */
const intoJpeg = (jpeg: Buffer, segment: Buffer) => {
  const at = 4 + jpeg.readUInt16BE(4)
  return Buffer.concat([jpeg.subarray(0, at), segment, jpeg.subarray(at)])
}
const intoPng = (png: Buffer, chunk: Buffer) => {
  const chunks = chunksOf(png).map(({ type, data }) => pngChunk(type, data))
  return Buffer.concat([PNG_SIGNATURE, chunks[0]!, chunk, ...chunks.slice(1)])
}
const intoGif = (gif: Buffer, block: string) =>
  Buffer.concat([gif.subarray(0, -1), Buffer.from(block, 'latin1'), gif.subarray(-1)])

describe('a derivative that is read again', () => {
  it.each(FORMATS)('as %s is fine with its pixels alone, transparent or not', async (format) => {
    const expected = { ...SIZE, frames: 1, durationMs: null }
    expect(reread(await encoded(still(), format), format, false)).toEqual(expected)
    expect(reread(await encoded(picture({ ...SIZE, alpha: true }), format), format, false)).toEqual(expected)
  })

  it.each(['webp', 'gif'] as const)(
    'as an animated %s tells its frames and how long they take',
    async (format) => {
      const body = await film(SIZE, 3)
        .toFormat(format, { delay: [100, 250, 30], loop: 3 })
        .toBuffer()
      expect(reread(body, format, false)).toEqual({ ...SIZE, frames: 3, durationMs: 380 })
    },
  )

  it.each(['jpeg', 'png', 'webp', 'avif'] as const)(
    'as %s has a notice where one was asked for',
    async (format) => {
      const body = await encoded(still().withExif({ IFD0: { Copyright: 'Ann', Artist: 'Ann' } }), format)
      expect(reread(body, format, true)).toMatchObject(SIZE)
      expect(() => reread(body, format, false)).toThrow(BadDerivative)
    },
  )

  it.each(['jpeg', 'png', 'webp', 'avif'] as const)(
    'as %s is refused with a place, asked for or not',
    async (format) => {
      const body = await encoded(still().withExif({ IFD0: { Copyright: 'Ann' }, IFD3: GPS }), format)
      expect(() => reread(body, format, true)).toThrow('has the EXIF field 34853')
      expect(() => reread(body, format, false)).toThrow(BadDerivative)
    },
  )

  it.each(['jpeg', 'png', 'webp', 'avif'] as const)(
    'as %s is refused with camera data and XMP',
    async (format) => {
      const camera = await encoded(still().withExif({ IFD0: { Make: 'Camera' } }), format)
      expect(() => reread(camera, format, true)).toThrow('has the EXIF field 271')
      const xmp = await encoded(still().withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'), format)
      expect(() => reread(xmp, format, true)).toThrow(BadDerivative)
    },
  )

  it.each(['jpeg', 'png', 'webp', 'avif'] as const)(
    'as %s is refused with a colour profile',
    async (format) => {
      const body = await encoded(still().withIccProfile('p3'), format)
      expect(() => reread(body, format, true)).toThrow(BadDerivative)
    },
  )

  it('is refused with an EXIF thumbnail', async () => {
    const body = await encoded(still().withExif({ IFD0: { Copyright: 'Ann' } }), 'jpeg')
    const tiff = body.indexOf('II*\0', 0, 'latin1')
    const directory = tiff + body.readUInt32LE(tiff + 4)
    body.writeUInt32LE(8, directory + 2 + 12 * body.readUInt16LE(directory))
    expect(() => reread(body, 'jpeg', true)).toThrow('has an EXIF thumbnail')
  })

  it.each(FORMATS)(
    'as %s is refused with bytes behind its end, and without its last ones',
    async (format) => {
      const body = await encoded(still(), format)
      expect(() => reread(Buffer.concat([body, Buffer.from('PK')]), format, false)).toThrow()
      expect(() => reread(Buffer.concat([body, body]), format, false)).toThrow()
      expect(() => reread(body.subarray(0, -2), format, false)).toThrow()
    },
  )

  it.each<[what: string, format: (typeof FORMATS)[number], make: (body: Buffer) => Buffer]>([
    ['a comment', 'jpeg', (body) => intoJpeg(body, jpegSegment(0xfe, Buffer.from('hello')))],
    ['IPTC', 'jpeg', (body) => intoJpeg(body, jpegSegment(0xed, Buffer.from('Photoshop 3.0\0')))],
    [
      'a thumbnail in JFIF',
      'jpeg',
      (body) => intoJpeg(body, jpegSegment(0xe0, Buffer.from('JFIF\0\x01\x02'))),
    ],
    ['text', 'png', (body) => intoPng(body, pngChunk('tEXt', Buffer.from('Author\0Ann')))],
    ['a private chunk', 'png', (body) => intoPng(body, pngChunk('prVt', Buffer.from('hello')))],
    ['a comment', 'gif', (body) => intoGif(body, '\x21\xfe\x05hello\0')],
    ['XMP', 'gif', (body) => intoGif(body, '\x21\xff\x0bXMP DataXMP\x01a\0')],
    [
      'an unknown chunk',
      'webp',
      (body) => {
        const grown = Buffer.concat([body, Buffer.from('JUNK\x02\0\0\0hi', 'latin1')])
        grown.writeUInt32LE(grown.length - 8, 4)
        return grown
      },
    ],
    ['an unknown box', 'avif', (body) => Buffer.concat([body, Buffer.from('\0\0\0\x0cfreehide', 'latin1')])],
  ])('is refused with %s as %s', async (_, format, make) => {
    const body = make(await encoded(still(), format))
    expect(() => reread(body, format, true)).toThrow(BadDerivative)
  })

  it('is refused with media data that belong to no item', async () => {
    const body = await encoded(still(), 'avif')
    const media = body.indexOf('mdat', 0, 'latin1') - 4
    const grown = Buffer.concat([body, Buffer.from('hidden')])
    grown.writeUInt32BE(body.readUInt32BE(media) + 6, media)
    expect(() => reread(grown, 'avif', true)).toThrow('has bytes behind its last item')
  })

  it('is refused as another format than it is to be', async () => {
    const png = await encoded(still(), 'png')
    for (const format of ['jpeg', 'webp', 'gif', 'avif'] as const) {
      expect(() => reread(png, format, false)).toThrow()
    }
  })

  it('is what the encoder writes for every size and kind of picture', async () => {
    const kinds = [
      sharp({ create: { width: 1, height: 1, channels: 3, background: '#369' } }),
      sharp({ create: { width: 700, height: 3, channels: 4, background: '#36999999' } }),
      picture({ width: 301, height: 7, alpha: true }),
    ]
    for (const image of kinds) {
      for (const format of FORMATS) {
        const { width, height } = await image
          .clone()
          .png()
          .toBuffer({ resolveWithObject: true })
          .then(({ info }) => info)
        expect(reread(await encoded(image.clone(), format), format, false)).toMatchObject({ width, height })
      }
    }
  })
})
