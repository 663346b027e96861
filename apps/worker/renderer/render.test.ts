import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { PermanentError } from '../../../core/errors.ts'
import { DEFAULT_LIMITS } from '../../../core/limits.ts'
import { gifFrame, gifHeader } from '../../../test/images/bytes/gif.ts'
import { jpegSegment } from '../../../test/images/bytes/jpeg.ts'
import { picture } from '../../../test/images/picture.ts'
import { TEST_IMAGE_NAMES, testImage, testImages } from '../../../test/images.ts'
import { DEFAULT_PLAN } from '../../../test/job-result.ts'
import { render } from './render.ts'
import { difference, meanOf, shown } from './testing/pictures.ts'

const SIZE = { width: 480, height: 320 }

/** The bytes behind the first segment. */
function betweenMarkers(jpeg: Buffer, bytes: Buffer): Buffer {
  const at = 4 + jpeg.readUInt16BE(4)
  return Buffer.concat([jpeg.subarray(0, at), bytes, jpeg.subarray(at)])
}

async function thumbnail(original: Buffer) {
  const { outputs, warnings } = await render(original, DEFAULT_LIMITS, DEFAULT_PLAN)
  expect(outputs).toHaveLength(1)
  const [output] = outputs
  return { ...output!, ...(await shown(output!.body)), warnings: warnings.map(({ code }) => code) }
}

const upright = async () => shown(await picture(SIZE).resize(320, 213, { fit: 'fill' }).png().toBuffer())

describe('the thumbnail of the project’s own images', () => {
  it.each(TEST_IMAGE_NAMES)('%s', async (name) => {
    const { bytes, expect: expected } = await testImage(name)
    if (expected.outcome !== 'thumbnail') {
      const codes: readonly string[] = expected.outcome === 'job_fails' ? expected.codes : [expected.code]
      const failure = await render(bytes, DEFAULT_LIMITS, DEFAULT_PLAN).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(PermanentError)
      expect(codes.map((code) => (code === 'empty_body' ? 'corrupt' : code))).toContain(
        (failure as PermanentError).code,
      )
      return
    }
    const { contentType, width, height, body, warnings } = await thumbnail(bytes)
    expect({ width, height }).toEqual(expected.thumbnail)
    // An animation may have its transparency in later frames.
    if (!expected.alpha || expected.frames === 1) {
      expect(contentType).toBe(expected.alpha ? 'image/webp' : 'image/jpeg')
    }
    expect(warnings.filter((code) => code === 'animation_dropped' || code === 'apng_as_still')).toEqual(
      expected.frames === 1 || expected.type === 'tiff'
        ? []
        : [expected.type === 'png' ? 'apng_as_still' : 'animation_dropped'],
    )
    const { exif, icc, iptc, xmp, format, pages = 1 } = await sharp(body).metadata()
    expect({ exif, icc, iptc, xmp, format, pages }).toEqual({
      exif: undefined,
      icc: undefined,
      iptc: undefined,
      xmp: undefined,
      format: contentType.slice('image/'.length),
      pages: 1,
    })
  })

  it('is the same bytes on every run', async () => {
    for (const { bytes, expect: expected } of await testImages()) {
      if (expected.outcome !== 'thumbnail') continue
      const [first, second] = [await thumbnail(bytes), await thumbnail(bytes)]
      expect(Buffer.compare(first.body, second.body)).toBe(0)
    }
  })
})

describe('orientation', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8] as const)('%i is the same upright picture', async (orientation) => {
    const { bytes } = await testImage(`jpeg-orientation-${orientation}`)
    expect(difference(await thumbnail(bytes), await upright())).toBeLessThan(5)
  })

  it.each([
    'png-orientation-6',
    'webp-orientation-6',
    'tiff-orientation-6',
    'jpeg-orientation-invalid',
    'avif-rotated',
  ] as const)('of %s is followed, once', async (name) => {
    const { bytes } = await testImage(name)
    expect(difference(await thumbnail(bytes), await upright())).toBeLessThan(6)
  })
})

describe('colour', () => {
  it('of CMYK without a profile is not inverted', async () => {
    const grey = await sharp({ create: { ...SIZE, channels: 3, background: '#c82828' } })
      .toColourspace('cmyk')
      .jpeg({ quality: 95 })
      .toBuffer()
    const [red, green, blue] = meanOf(await thumbnail(grey))
    expect(red).toBeGreaterThan(170)
    expect(green).toBeLessThan(90)
    expect(blue).toBeLessThan(90)
  })

  it.each([
    ['8 bits', 'srgb'],
    ['16 bits', 'rgb16'],
  ])('of a wide gamut, %s a sample, is converted before its profile goes', async (_, space) => {
    // Red of Display P3: of sRGB it would be #ff0000 as well, and much duller without the conversion.
    const wide = await sharp({ create: { width: 32, height: 32, channels: 3, background: '#ff0000' } })
      .toColourspace(space)
      .withIccProfile('p3')
      .png()
      .toBuffer()
    expect(meanOf(await thumbnail(wide))).toEqual([254, 0, 0])
  })

  it('of 16 bits without a profile stays', async () => {
    const deep = await sharp({ create: { width: 32, height: 32, channels: 3, background: '#408020' } })
      .toColourspace('rgb16')
      .png()
      .toBuffer()
    meanOf(await thumbnail(deep)).forEach((value, i) => {
      expect(Math.abs(value - [0x40, 0x80, 0x20][i]!)).toBeLessThan(3)
    })
  })

  it('of a TIFF with more channels than colours and alpha leaves the others out', async () => {
    const extra = { raw: { width: 20, height: 10, channels: 1 as const } }
    const five = await sharp({
      create: { width: 20, height: 10, channels: 4, background: { r: 200, g: 100, b: 50, alpha: 1 } },
    })
      .joinChannel(Buffer.alloc(200, 77), extra)
      .tiff({ compression: 'lzw' })
      .toBuffer()
    const { contentType, ...seen } = await thumbnail(five)
    expect(contentType).toBe('image/jpeg')
    meanOf(seen).forEach((value, i) => {
      expect(Math.abs(value - [200, 100, 50][i]!)).toBeLessThan(4)
    })
  })
})

describe('transparency', () => {
  it('stays transparent, without a dark edge', async () => {
    const { bytes } = await testImage('png-alpha')
    const { body, contentType } = await thumbnail(bytes)
    expect(contentType).toBe('image/webp')
    const { data, info } = await sharp(body).raw().toBuffer({ resolveWithObject: true })
    const alphaAt = (x: number) => data[(100 * info.width + x) * 4 + 3]
    expect(alphaAt(1)).toBeGreaterThan(245)
    expect(alphaAt(318)).toBeLessThan(10)
    // Over white it gets lighter to the right, where a black matte would make it darker.
    const seen = await shown(body)
    const lightnessAt = (x: number) => seen.rgb[(100 * seen.width + x) * 3]!
    expect(lightnessAt(310)).toBeGreaterThan(lightnessAt(10))
  })

  it('of an alpha channel that is opaque all over is none', async () => {
    const opaque = await picture(SIZE).ensureAlpha(1).png().toBuffer()
    expect((await thumbnail(opaque)).contentType).toBe('image/jpeg')
  })

  it('fills the screen of a GIF that its frames leave empty', async () => {
    const gif = Buffer.concat([gifHeader(3_000, 50), await firstFrame(), Buffer.from(';')])
    const { contentType, width, height, body } = await thumbnail(gif)
    expect({ contentType, width, height }).toEqual({ contentType: 'image/webp', width: 320, height: 5 })
    const { data } = await sharp(body).raw().toBuffer({ resolveWithObject: true })
    expect([data[3], data[4 * 319 + 3]]).toEqual([255, 0])
  })

  /** A frame of 300 × 50 in blue, as an encoder writes it. */
  async function firstFrame(): Promise<Buffer> {
    const still = await sharp({ create: { width: 300, height: 50, channels: 3, background: '#2040c0' } })
      .gif()
      .toBuffer()
    const at = still.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]))
    const table = still.subarray(13, 13 + 3 * 2 ** ((still[10]! & 7) + 1))
    const descriptor = Buffer.from(still.subarray(at, at + 10))
    // The table of the whole file becomes the frame's own.
    descriptor[9] = 0x80 | (still[10]! & 7)
    return Buffer.concat([descriptor, table, still.subarray(at + 10, -1)])
  }
})

describe('size', () => {
  it.each([
    [65_500, 1, 320, 1],
    [1, 4_000, 1, 320],
    [321, 320, 320, 319],
    [320, 320, 320, 320],
    [1, 1, 1, 1],
    [600, 397, 320, 212],
  ])('of %i × %i becomes %i × %i', async (width, height, thumbWidth, thumbHeight) => {
    const original = await sharp({ create: { width, height, channels: 3, background: '#369' } })
      .jpeg()
      .toBuffer()
    expect(await thumbnail(original)).toMatchObject({ width: thumbWidth, height: thumbHeight })
  })

  it('over a limit is refused with the limit and the value', async () => {
    const { bytes } = await testImage('gif-animated')
    const limited = (limits: object) => render(bytes, { ...DEFAULT_LIMITS, ...limits }, DEFAULT_PLAN)
    await expect(limited({ maxPixels: 9_599 })).rejects.toThrow(/9600 pixels; the limit is 9599/)
    await expect(limited({ maxPixels: 9_600 })).resolves.toBeDefined()
    await expect(limited({ maxFrames: 4 })).rejects.toMatchObject({ code: 'too_many_frames' })
    await expect(limited({ maxFrames: 5 })).resolves.toBeDefined()
  })
})

describe('a quirky file that browsers show', () => {
  const plain = () => picture(SIZE).jpeg().toBuffer()
  const adobe = (transform: number) =>
    jpegSegment(0xee, Buffer.concat([Buffer.from('Adobe'), Buffer.from([0, 100, 0, 0, 0, 0, transform])]))

  it.each<[what: string, make: (jpeg: Buffer) => Buffer]>([
    ['bytes between its markers', (jpeg) => betweenMarkers(jpeg, Buffer.from('0102ff0003', 'hex'))],
    ['no end marker', (jpeg) => jpeg.subarray(0, -2)],
    ['both', (jpeg) => betweenMarkers(jpeg, Buffer.from('0102', 'hex')).subarray(0, -2)],
    ['an Adobe segment of a later version', (jpeg) => betweenMarkers(jpeg, adobe(9))],
    [
      'a baseline scan with the parameters of a progressive one',
      (jpeg) => {
        const scan = jpeg.indexOf('ffda', 0, 'hex')
        jpeg[scan + 5 + 2 * jpeg[scan + 4]! + 1] = 0
        return jpeg
      },
    ],
  ])('as JPEG with %s is accepted, with a warning', async (_, make) => {
    const seen = await thumbnail(make(await plain()))
    expect(seen.warnings).toEqual(['lenient_decode'])
    expect(difference(seen, await upright())).toBeLessThan(5)
  })

  it.each<[what: string, segment: Buffer, warnings: string[]]>([
    [
      'a profile that is none',
      jpegSegment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01junkjunk', 'latin1')),
      ['profile_broken'],
    ],
    ['EXIF that is none', jpegSegment(0xe1, Buffer.from('Exif\0\0II*\0\xff\xff\xff\xff', 'latin1')), []],
  ])('as JPEG with %s is accepted with its own colours', async (_, segment, warnings) => {
    const seen = await thumbnail(betweenMarkers(await plain(), segment))
    expect(seen.warnings).toEqual(warnings)
    expect(difference(seen, await upright())).toBeLessThan(5)
  })

  it('as TIFF with tags out of order is accepted, with a warning', async () => {
    const tiff = await picture(SIZE).tiff({ compression: 'lzw' }).toBuffer()
    const directory = tiff.readUInt32LE(4)
    // The unit of the resolution becomes a private tag, and with that the highest.
    const unit = tiff.indexOf(Buffer.from([0x28, 0x01, 0x03, 0x00]), directory)
    tiff.writeUInt16LE(60_000, unit)
    const seen = await thumbnail(tiff)
    expect(seen.warnings).toEqual(['lenient_decode'])
    expect(difference(seen, await upright())).toBeLessThan(5)
  })
})

describe('a file without all of its picture is refused, and never shown with a grey rest:', () => {
  const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)
  const end = Buffer.from('ffd9', 'hex')
  const junk = Buffer.from('0102', 'hex')

  it.each([
    ['a JPEG cut off', false, (jpeg: Buffer) => half(jpeg), 'truncated'],
    ['a progressive JPEG cut off', true, (jpeg: Buffer) => half(jpeg), 'truncated'],
    [
      'a JPEG cut off that ends in an end marker',
      false,
      (jpeg: Buffer) => Buffer.concat([half(jpeg), end]),
      'corrupt',
    ],
    [
      'a JPEG cut off with bytes between its markers',
      false,
      (jpeg: Buffer) => betweenMarkers(half(jpeg), junk),
      'truncated',
    ],
    [
      'a JPEG cut off with bytes between its markers that ends in an end marker',
      false,
      (jpeg: Buffer) => Buffer.concat([betweenMarkers(half(jpeg), junk), end]),
      'corrupt',
    ],
  ])('%s', async (_, progressive, make, code) => {
    const jpeg = await picture(SIZE).jpeg({ progressive }).toBuffer()
    await expect(render(make(jpeg), DEFAULT_LIMITS, DEFAULT_PLAN)).rejects.toMatchObject({
      name: 'PermanentError',
      code,
    })
  })

  it('a still GIF and an animation without an end', async () => {
    const frame = gifFrame(9, 9)
    await expect(
      render(Buffer.concat([gifHeader(9, 9), frame, frame]), DEFAULT_LIMITS, DEFAULT_PLAN),
    ).rejects.toMatchObject({ code: 'truncated' })
  })

  it('whatever the type, with a sentence that names it and no more than the decoder’s words', async () => {
    for (const [type, cut] of [
      ['JPEG', half(await picture(SIZE).jpeg().toBuffer())],
      ['PNG', half(await picture(SIZE).png().toBuffer())],
      ['WebP', half(await picture(SIZE).webp().toBuffer())],
      ['GIF', half(await picture(SIZE).gif().toBuffer())],
      ['AVIF', half(await picture(SIZE).avif({ effort: 0 }).toBuffer())],
      ['TIFF', half(await picture(SIZE).tiff().toBuffer())],
    ] as const) {
      const failure = await render(cut, DEFAULT_LIMITS, DEFAULT_PLAN).catch((error: unknown) => error)
      expect(failure).toMatchObject({ name: 'PermanentError', code: 'truncated' })
      expect((failure as Error).message).toMatch(new RegExp(`^the ${type} is cut off: [^\n]{1,200}$`))
    }
  })
})
