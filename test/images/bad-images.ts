import { avif, box, fileType, property } from './bytes/avif.ts'
import { gif, gifFrame, gifHeader } from './bytes/gif.ts'
import { jpeg, jpegFrame } from './bytes/jpeg.ts'
import { chunksOf, PNG_SIGNATURE, png, pngChunk, pngHeader } from './bytes/png.ts'
import { tiff, tiffImage } from './bytes/tiff.ts'
import { webp, webpLossless } from './bytes/webp.ts'
import { film, picture } from './picture.ts'
import { jobFails, type Maker, refused } from './test-image.ts'

const SIZE = { width: 240, height: 160 }

const unsupported = (bytes: Buffer, contentType?: string) => async () =>
  refused(415, 'unsupported_type', bytes, contentType)
const text = (content: string) => Buffer.from(content)
const hex = (digits: string, length = 64) => Buffer.concat([Buffer.from(digits, 'hex'), Buffer.alloc(length)])

/** Everything that is refused, or that fails, by its name. */
export const BAD_IMAGES = {
  empty: async () => refused(400, 'empty_body', Buffer.alloc(0), 'image/jpeg'),

  // Of another type.
  'html-sent-as-png': unsupported(text('<!DOCTYPE html><html><body>404</body></html>'), 'image/png'),
  svg: unsupported(text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')),
  'plain-text': unsupported(text('This is no image.'), 'image/jpeg'),
  'form-data': unsupported(
    text('--boundary\r\nContent-Disposition: form-data; name="file"\r\n\r\n…\r\n--boundary--\r\n'),
  ),
  'heic-sent-as-jpeg': unsupported(
    Buffer.concat([fileType('heic', 'mif1', 'heic'), box('mdat', Buffer.alloc(64))]),
    'image/jpeg',
  ),
  'hevc-in-avif-brands': unsupported(
    avif([{ id: 1, type: 'hvc1', properties: [property.size(64, 64)] }]),
    'image/avif',
  ),
  'avif-sequence': unsupported(Buffer.concat([fileType('avis', 'avif', 'avis'), box('moov')]), 'image/avif'),
  'jpeg-xl': unsupported(hex('ff0a')),
  'jpeg-2000': unsupported(hex('0000000c6a5020200d0a870a')),
  pdf: unsupported(text('%PDF-1.7\n')),
  bmp: unsupported(hex('424d36030000000000003600000028000000')),
  psd: unsupported(hex('384250530001')),
  zip: unsupported(hex('504b0304')),
  'raw-dng': unsupported(tiff([tiffImage(160, 120, [50_706, 1, [1, 4, 0, 0]])]), 'image/tiff'),
  'raw-preview-only': unsupported(
    tiff([tiffImage(160, 120, [254, 4, 1], [271, 2, 'NIKON CORPORATION'], [330, 4, [4_000, 8_000]])]),
    'image/tiff',
  ),
  'jpeg-12-bit': unsupported(jpeg(jpegFrame({ ...SIZE, precision: 12, marker: 0xc1 })), 'image/jpeg'),
  'jpeg-arithmetic': unsupported(jpeg(jpegFrame({ ...SIZE, marker: 0xc9 })), 'image/jpeg'),
  'tiff-old-style-jpeg': unsupported(
    tiff([[...tiffImage(64, 64).filter(([tag]) => tag !== 259), [259, 3, 6]]]),
  ),

  // Over a limit.
  'png-bomb': async () =>
    refused(422, 'too_many_pixels', png({ width: 30_000, height: 30_000 }, pngChunk('IDAT'))),
  'webp-bomb': async () => refused(422, 'too_many_pixels', webp(webpLossless(16_383, 16_383))),
  'jpeg-bomb': async () =>
    refused(422, 'too_many_pixels', jpeg(jpegFrame({ width: 40_000, height: 40_000, marker: 0xc2 }))),
  'gif-too-many-frames': async () =>
    refused(422, 'too_many_frames', gif(1, 1, ...Array.from({ length: 5_000 }, () => gifFrame(1, 1)))),
  'gif-too-many-pixels-in-all': async () =>
    refused(422, 'too_many_pixels', gif(4_000, 4_000, ...Array.from({ length: 50 }, () => gifFrame(1, 1)))),

  // Broken where the upload shows it.
  'png-truncated': async () => {
    const bytes = await picture(SIZE).png().toBuffer()
    return refused(422, 'truncated', bytes.subarray(0, bytes.length / 2), 'image/png')
  },
  'png-header-damaged': async () => {
    const bytes = await picture(SIZE).png().toBuffer()
    bytes[18] = 1
    return refused(422, 'corrupt', bytes, 'image/png')
  },
  'gif-truncated-between-frames': async () => {
    const bytes = Buffer.concat([gifHeader(9, 9), gifFrame(9, 9), gifFrame(9, 9)])
    return refused(422, 'truncated', bytes, 'image/gif')
  },
  'gif-truncated': async () => {
    const bytes = await film({ width: 60, height: 40 }, 3).gif({ effort: 1 }).toBuffer()
    return refused(422, 'truncated', bytes.subarray(0, bytes.length * 0.6), 'image/gif')
  },
  'webp-truncated': async () => {
    const bytes = await picture(SIZE).webp().toBuffer()
    return refused(422, 'truncated', bytes.subarray(0, bytes.length / 2), 'image/webp')
  },
  'avif-truncated': async () => {
    const bytes = await picture(SIZE).avif({ effort: 0 }).toBuffer()
    return refused(422, 'truncated', bytes.subarray(0, bytes.length - 100), 'image/avif')
  },

  // Broken where only decoding shows it.
  'jpeg-truncated': async () => {
    const bytes = await picture(SIZE).jpeg().toBuffer()
    return jobFails('jpeg', bytes.subarray(0, bytes.length / 2), 'truncated', 'corrupt')
  },
  'jpeg-truncated-with-end-marker': async () => {
    const bytes = await picture(SIZE).jpeg().toBuffer()
    const cut = Buffer.concat([bytes.subarray(0, bytes.length / 2), Buffer.from('ffd9', 'hex')])
    return jobFails('jpeg', cut, 'truncated', 'corrupt')
  },
  'jpeg-without-tables': async () => jobFails('jpeg', jpeg(jpegFrame(SIZE)), 'corrupt', 'truncated'),
  'png-data-damaged': async () => {
    const bytes = await picture(SIZE).png().toBuffer()
    const [header, ...chunks] = chunksOf(bytes)
    const damaged = chunks.map(({ type, data }) => {
      if (type === 'IDAT') data.fill(0x55, data.length / 2, data.length / 2 + 64)
      return pngChunk(type, data)
    })
    const whole = Buffer.concat([PNG_SIGNATURE, pngChunk('IHDR', header!.data), ...damaged])
    return jobFails('png', whole, 'corrupt', 'truncated')
  },
  'png-data-missing-rows': async () => {
    const { data } = chunksOf(png({ width: 240, height: 20 })).find(({ type }) => type === 'IDAT')!
    const bytes = Buffer.concat([PNG_SIGNATURE, pngHeader(SIZE), pngChunk('IDAT', data), pngChunk('IEND')])
    return jobFails('png', bytes, 'truncated', 'corrupt')
  },
  'tiff-truncated': async () => {
    const strips = Buffer.alloc(SIZE.width * 20 * 3)
    const bytes = tiff(
      [tiffImage(SIZE.width, SIZE.height, [273, 4, 8], [278, 4, SIZE.height], [279, 4, 115_200])],
      {
        before: strips,
      },
    )
    return jobFails('tiff', bytes, 'truncated', 'corrupt')
  },
} satisfies Record<string, Maker>
