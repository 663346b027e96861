import { deflateSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { EOI } from './bytes/jpeg.ts'
import {
  animationControl,
  chunksOf,
  frameControl,
  frameData,
  PNG_SIGNATURE,
  png,
  pngChunk,
  withChunks,
} from './bytes/png.ts'
import { film, picture, pqPicture } from './picture.ts'
import { accepted, type Maker } from './test-image.ts'

const SIZE = { width: 480, height: 320 }
const SMALL = { width: 120, height: 80 }

/** How a camera stores what its orientation turns upright again: turned first, then mirrored. */
const STORED: Record<number, { turn: number; mirror: boolean }> = {
  1: { turn: 0, mirror: false },
  2: { turn: 0, mirror: true },
  3: { turn: 180, mirror: false },
  4: { turn: 180, mirror: true },
  5: { turn: 270, mirror: true },
  6: { turn: 270, mirror: false },
  7: { turn: 90, mirror: true },
  8: { turn: 90, mirror: false },
}

function stored(orientation: number): Sharp {
  const { turn, mirror } = STORED[orientation]!
  return picture(SIZE).rotate(turn).flop(mirror).withMetadata({ orientation })
}

const jpegOriented =
  (orientation: number): Maker =>
  async () =>
    accepted('jpeg', await stored(orientation).jpeg().toBuffer(), SIZE)

const plainJpeg = () => picture(SIZE).jpeg().toBuffer()

/** Everything that becomes a thumbnail, by its name. */
export const GOOD_IMAGES = {
  'jpeg-orientation-1': jpegOriented(1),
  'jpeg-orientation-2': jpegOriented(2),
  'jpeg-orientation-3': jpegOriented(3),
  'jpeg-orientation-4': jpegOriented(4),
  'jpeg-orientation-5': jpegOriented(5),
  'jpeg-orientation-6': jpegOriented(6),
  'jpeg-orientation-7': jpegOriented(7),
  'jpeg-orientation-8': jpegOriented(8),
  /** An orientation that does not exist counts as none. */
  'jpeg-orientation-invalid': async () => {
    const bytes = await stored(1).jpeg().toBuffer()
    bytes[bytes.indexOf('120103000100000001', 0, 'hex') + 8] = 99
    return accepted('jpeg', bytes, SIZE)
  },
  'jpeg-progressive': async () =>
    accepted('jpeg', await picture(SIZE).jpeg({ progressive: true }).toBuffer(), SIZE),
  'jpeg-grey': async () => accepted('jpeg', await picture(SIZE).toColourspace('b-w').jpeg().toBuffer(), SIZE),
  /** Four inks and no profile. */
  'jpeg-cmyk': async () =>
    accepted('jpeg', await picture(SIZE).toColourspace('cmyk').jpeg().toBuffer(), SIZE),
  /** Says where it was taken, which no output may. */
  'jpeg-gps': async () => {
    const place = {
      GPSLatitudeRef: 'N',
      GPSLatitude: '51/1 30/1 3230/100',
      GPSLongitudeRef: 'W',
      GPSLongitude: '0/1 7/1 4366/100',
    }
    const image = picture(SIZE).withExif({ IFD0: { Copyright: 'img42' }, IFD3: place })
    return accepted('jpeg', await image.jpeg().toBuffer(), SIZE)
  },
  /** Bytes between the markers, as some cameras leave them: every browser shows it. */
  'jpeg-junk-between-markers': async () => {
    const bytes = await plainJpeg()
    const at = bytes.indexOf('ffc0', 0, 'hex')
    return accepted(
      'jpeg',
      Buffer.concat([bytes.subarray(0, at), Buffer.from('00ff00', 'hex'), bytes.subarray(at)]),
      SIZE,
    )
  },
  /** All its pixels, and no end marker. */
  'jpeg-without-end-marker': async () => {
    const bytes = await plainJpeg()
    return accepted('jpeg', bytes.subarray(0, bytes.length - EOI.length), SIZE)
  },
  /** Something else behind the end marker, which no output may hold. */
  'jpeg-with-trailing-bytes': async () => {
    const archive = Buffer.from('PK\x03\x04 secret-payload', 'latin1')
    return accepted('jpeg', Buffer.concat([await plainJpeg(), archive]), SIZE)
  },
  'jpeg-sent-as-png': async () =>
    accepted('jpeg', await plainJpeg(), { ...SIZE, contentType: 'image/png', warnings: ['type_mismatch'] }),
  /** Wider than any preset, and a single row of a thumbnail high. */
  'jpeg-very-wide': async () => {
    const size = { width: 4_000, height: 5 }
    return accepted('jpeg', await picture(size).jpeg().toBuffer(), size)
  },

  'png-opaque': async () => accepted('png', await picture(SIZE).png().toBuffer(), SIZE),
  'png-alpha': async () =>
    accepted(
      'png',
      await picture({ ...SIZE, alpha: true })
        .png()
        .toBuffer(),
      { ...SIZE, alpha: true },
    ),
  'png-palette': async () =>
    accepted(
      'png',
      await picture(SIZE).png({ palette: true, colours: 32, effort: 1, dither: 0 }).toBuffer(),
      SIZE,
    ),
  'png-16-bit': async () =>
    accepted('png', await picture(SIZE).toColourspace('rgb16').png().toBuffer(), SIZE),
  'png-grey-alpha': async () => {
    const image = picture({ ...SIZE, alpha: true }).toColourspace('b-w')
    return accepted('png', await image.png().toBuffer(), { ...SIZE, alpha: true })
  },
  'png-display-p3': async () =>
    accepted('png', await picture(SIZE).withIccProfile('p3').png().toBuffer(), SIZE),
  'png-orientation-6': async () => accepted('png', await stored(6).png().toBuffer(), SIZE),
  'png-one-pixel': async () => {
    const size = { width: 1, height: 1 }
    return accepted('png', await picture(size).png().toBuffer(), size)
  },
  'png-fully-transparent': async () => {
    const clear = sharp({ create: { ...SMALL, channels: 4, background: '#00000000' } })
    return accepted('png', await clear.png().toBuffer(), { ...SMALL, alpha: true })
  },
  'png-palette-transparent': async () => {
    const image = picture({ ...SIZE, alpha: true })
    const bytes = await image.png({ palette: true, colours: 64, effort: 1, dither: 0 }).toBuffer()
    return accepted('png', bytes, { ...SIZE, alpha: true })
  },
  /** The same picture for screens of a high dynamic range: its samples follow PQ, and a tag says so. */
  'png-hdr-pq': async () => {
    const still = await pqPicture(SIZE).toColourspace('rgb16').png().toBuffer()
    return accepted('png', withChunks(still, pngChunk('cICP', Buffer.from([1, 16, 0, 1]))), SIZE)
  },
  /** A profile that inflates to 50 MB, which nobody needs to inflate. */
  'png-profile-bomb': async () => {
    const profile = Buffer.concat([Buffer.from('icc\0\0', 'latin1'), deflateSync(Buffer.alloc(50_000_000))])
    const bytes = withChunks(png({ width: 1, height: 1 }), pngChunk('iCCP', profile))
    return accepted('png', bytes, { width: 1, height: 1 })
  },
  'png-many-text-chunks': async () => {
    const note = pngChunk('tEXt', Buffer.from('Comment\0x', 'latin1'))
    const bytes = withChunks(png({ width: 1, height: 1 }), ...Array<Buffer>(20_000).fill(note))
    return accepted('png', bytes, { width: 1, height: 1 })
  },
  /** Wider than WebP can be. */
  'png-too-wide-for-webp': async () => {
    const size = { width: 20_000, height: 4 }
    return accepted('png', await picture(size).png().toBuffer(), size)
  },
  /** An APNG: decoders without it see its first frame. */
  'png-animated': async () => accepted('png', await animatedPng(3), { ...SMALL, frames: 3 }),

  'gif-still': async () =>
    accepted('gif', await picture(SIZE).gif({ effort: 1, dither: 0 }).toBuffer(), SIZE),
  'gif-animated': async () => {
    const bytes = await film(SMALL, 5)
      .gif({ delay: [100, 100, 200, 100, 100], loop: 0, effort: 1, dither: 0 })
      .toBuffer()
    // The encoder leaves out what does not change from frame to frame, and that says: perhaps transparent.
    return accepted('gif', bytes, { ...SMALL, frames: 5, alpha: true })
  },
  /** Its frames are to be shown for no time at all, which nobody does. */
  'gif-without-delays': async () => {
    const bytes = await film(SMALL, 5)
      .gif({ delay: [0, 0, 0, 0, 0], loop: 0, effort: 1, dither: 0 })
      .toBuffer()
    return accepted('gif', bytes, { ...SMALL, frames: 5, alpha: true })
  },
  /** The screen is larger than the one frame on it. */
  'gif-small-on-its-screen': async () => {
    const bytes = await picture(SMALL).gif({ effort: 1, dither: 0 }).toBuffer()
    bytes.writeUInt16LE(SIZE.width, 6)
    bytes.writeUInt16LE(SIZE.height, 8)
    return accepted('gif', bytes, SIZE)
  },

  'webp-lossy': async () => accepted('webp', await picture(SIZE).webp().toBuffer(), SIZE),
  'webp-lossless-alpha': async () => {
    const bytes = await picture({ ...SIZE, alpha: true })
      .webp({ lossless: true, effort: 0 })
      .toBuffer()
    return accepted('webp', bytes, { ...SIZE, alpha: true })
  },
  'webp-orientation-6': async () => accepted('webp', await stored(6).webp().toBuffer(), SIZE),
  'webp-animated': async () => {
    const bytes = await film(SMALL, 5)
      .webp({ delay: [100, 100, 200, 100, 100], loop: 3 })
      .toBuffer()
    return accepted('webp', bytes, { ...SMALL, frames: 5 })
  },

  'avif-plain': async () => accepted('avif', await picture(SIZE).avif({ effort: 0 }).toBuffer(), SIZE),
  'avif-alpha': async () => {
    const bytes = await picture({ ...SIZE, alpha: true })
      .avif({ effort: 0 })
      .toBuffer()
    return accepted('avif', bytes, { ...SIZE, alpha: true })
  },
  /** Turned by a property of the container, which the decoder follows by itself: not to be turned twice. */
  'avif-rotated': async () => {
    const bytes = await picture(SIZE).rotate(90).avif({ effort: 0 }).toBuffer()
    // In place of the property that tells the bits of each channel, which nothing needs; positions stay as they are.
    const at = bytes.indexOf('pixi', 0, 'latin1')
    bytes.write('irot', at, 'latin1')
    bytes.fill(0, at + 4, at + 12)
    bytes[at + 4] = 1
    return accepted('avif', bytes, SIZE)
  },

  'tiff-lzw': async () => accepted('tiff', await picture(SIZE).tiff({ compression: 'lzw' }).toBuffer(), SIZE),
  'tiff-big': async () => accepted('tiff', await picture(SIZE).tiff({ bigtiff: true }).toBuffer(), SIZE),
  'tiff-alpha': async () => {
    const bytes = await picture({ ...SIZE, alpha: true })
      .tiff({ compression: 'deflate' })
      .toBuffer()
    return accepted('tiff', bytes, { ...SIZE, alpha: true })
  },
  'tiff-orientation-6': async () =>
    accepted('tiff', await stored(6).tiff({ compression: 'lzw' }).toBuffer(), SIZE),
  'tiff-two-pages': async () => {
    const bytes = await film(SMALL, 2).tiff({ compression: 'lzw' }).toBuffer()
    return accepted('tiff', bytes, { ...SMALL, frames: 2 })
  },
} satisfies Record<string, Maker>

/** From still PNGs, because the encoder writes none: the chunks of their image data, each behind its frame's control. */
async function animatedPng(frames: number): Promise<Buffer> {
  const stills = await Promise.all(
    Array.from({ length: frames }, (_, i) =>
      picture({ ...SMALL, time: i / frames })
        .png()
        .toBuffer(),
    ),
  )
  const [first, ...others] = stills.map((still) => chunksOf(still))
  const data = (chunks: ReturnType<typeof chunksOf>) =>
    Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data))
  const header = first!.filter(({ type }) => type !== 'IDAT' && type !== 'IEND')
  return Buffer.concat([
    PNG_SIGNATURE,
    ...header.map((chunk) => pngChunk(chunk.type, chunk.data)),
    animationControl(frames),
    frameControl(0, SMALL),
    pngChunk('IDAT', data(first!)),
    ...others.flatMap((chunks, i) => [frameControl(2 * i + 1, SMALL), frameData(2 * i + 2, data(chunks))]),
    pngChunk('IEND'),
  ])
}
