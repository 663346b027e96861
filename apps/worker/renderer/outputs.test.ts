import sharp, { type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS, type Limits } from '../../../core/limits.ts'
import type { OutputPlan, Position, Preset } from '../../../core/preset.ts'
import { film, picture } from '../../../test/images/picture.ts'
import { testImage } from '../../../test/images.ts'
import { render } from './render.ts'
import { difference, meanOf, shown } from './testing/pictures.ts'
import { renderPlan } from './testing/plans.ts'

const SIZE = { width: 480, height: 320 }
const FORMATS = ['jpeg', 'webp', 'avif', 'png', 'gif'] as const

async function outputsOf(
  original: Buffer,
  outputs: readonly Partial<OutputPlan>[],
  preset: Partial<Preset> = {},
  limits: Partial<Limits> = {},
) {
  const plan = renderPlan(outputs, preset)
  const rendering = await render(original, { ...DEFAULT_LIMITS, ...limits }, plan)
  return { ...rendering, codes: rendering.warnings.map(({ code }) => code) }
}

async function outputOf(original: Buffer, output: Partial<OutputPlan>, preset?: Partial<Preset>) {
  const { outputs, codes } = await outputsOf(original, [output], preset)
  expect(outputs).toHaveLength(1)
  return { ...outputs[0]!, codes, seen: await shown(outputs[0]!.body) }
}

/** A picture of plain areas side by side. */
async function stripes(colours: string[], { width = 100, height = 100 } = {}): Promise<Buffer> {
  const areas = colours.map((background, i) => ({
    input: { create: { width, height, channels: 3 as const, background } },
    left: i * width,
    top: 0,
  }))
  return sharp({ create: { width: width * colours.length, height, channels: 3, background: '#000' } })
    .composite(areas)
    .png()
    .toBuffer()
}

/** The frames of an animation, each as a still. */
async function framesOf(animation: Uint8Array): Promise<Buffer[]> {
  const { pages = 1 } = await sharp(animation, { animated: true }).metadata()
  return Promise.all(
    Array.from({ length: pages }, (_, page) => sharp(animation, { page, pages: 1 }).png().toBuffer()),
  )
}

describe('an output’s format', () => {
  it.each(FORMATS)('%s shows the picture, in its own size and resized', async (format) => {
    const original = await picture(SIZE).png().toBuffer()
    const own = await outputOf(original, { format })
    expect(own).toMatchObject({
      ...SIZE,
      format,
      contentType: `image/${format}`,
      frames: 1,
      durationMs: null,
    })
    // GIF has 256 colours.
    expect(difference(own.seen, await shown(original))).toBeLessThan(format === 'gif' ? 8 : 5)
    const half = await outputOf(original, { format, width: 240 })
    const reference = await shown(await picture(SIZE).resize(240, 160).png().toBuffer())
    expect(difference(half.seen, reference)).toBeLessThan(format === 'gif' ? 8 : 5)
  })

  it.each(FORMATS)('%s is the same bytes on every run', async (format) => {
    const original = await picture({ ...SIZE, alpha: true })
      .png()
      .toBuffer()
    const plan = { format, width: 200, height: 200, fit: 'cover', position: 'attention' } as const
    const [first, second] = [await outputOf(original, plan), await outputOf(original, plan)]
    expect(Buffer.compare(first.body, second.body)).toBe(0)
  })

  it('follows the quality that is asked for', async () => {
    const original = await picture(SIZE).png().toBuffer()
    for (const format of ['jpeg', 'webp', 'avif'] as const) {
      const [low, high] = [
        await outputOf(original, { format, quality: 20 }),
        await outputOf(original, { format, quality: 95 }),
      ]
      expect(low.body.length * 2).toBeLessThan(high.body.length)
    }
  })

  const variants = async (original: Buffer, plan: Partial<OutputPlan>) =>
    (await outputsOf(original, [plan])).outputs.map(({ format }) => format)

  it('is chosen by what can be seen where the plan leaves it open', async () => {
    const opaque = await picture(SIZE).ensureAlpha(1).png().toBuffer()
    const transparent = await picture({ ...SIZE, alpha: true })
      .png()
      .toBuffer()
    const { bytes: animation } = await testImage('gif-animated')
    expect(await variants(opaque, { format: 'basic' })).toEqual(['jpeg'])
    expect(await variants(transparent, { format: 'basic' })).toEqual(['webp'])
    expect(await variants(animation, { format: 'basic', animated: true })).toEqual(['webp'])
    expect(await variants(animation, { format: 'basic' })).toEqual(['jpeg'])
    expect(await variants(opaque, { format: 'auto' })).toEqual(['webp', 'jpeg'])
    expect(await variants(transparent, { format: 'auto', avif: true })).toEqual(['avif', 'webp', 'png'])
    expect(await variants(animation, { format: 'auto', avif: true, animated: true })).toEqual(['webp', 'gif'])
  })

  it('has no transparency of an alpha channel that is opaque all over', async () => {
    const opaque = await picture(SIZE).ensureAlpha(1).png().toBuffer()
    for (const format of ['webp', 'avif', 'png'] as const) {
      expect(await sharp((await outputOf(opaque, { format })).body).metadata()).toMatchObject({
        hasAlpha: false,
      })
    }
  })
})

describe('transparency', () => {
  const clear = () =>
    sharp({ create: { width: 40, height: 30, channels: 4, background: '#00000000' } })
      .png()
      .toBuffer()

  it('is white in a JPEG, or the background that is asked for, and never black', async () => {
    const original = await clear()
    expect(meanOf((await outputOf(original, { format: 'jpeg' })).seen)).toEqual([255, 255, 255])
    const red = await outputOf(original, { format: 'jpeg', background: '#ff0000' })
    expect(meanOf(red.seen)).toEqual([254, 0, 0])
    const nothing = await outputOf(original, { format: 'jpeg', background: '#00000000' })
    expect(meanOf(nothing.seen)).toEqual([255, 255, 255])
    const half = await outputOf(original, { format: 'jpeg', background: '#0000ff80' })
    const [mixedRed, , mixedBlue] = meanOf(half.seen)
    expect(Math.abs(mixedRed! - 127)).toBeLessThan(3)
    expect(mixedBlue).toBeGreaterThan(252)
  })

  it.each(['webp', 'avif', 'png', 'gif'] as const)('stays in %s', async (format) => {
    const original = await picture({ ...SIZE, alpha: true })
      .png()
      .toBuffer()
    const { body } = await outputOf(original, { format, width: 240 })
    const { data, info } = await sharp(body).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const alphaAt = (x: number) => data[(80 * info.width + x) * 4 + 3]!
    expect(alphaAt(2)).toBeGreaterThan(240)
    expect(alphaAt(237)).toBeLessThan(15)
  })

  it('gives an edge no colour of what cannot be seen', async () => {
    // Opaque white beside a clear black.
    const pixels = Buffer.alloc(64 * 64 * 4)
    for (let at = 0; at < pixels.length; at += 4) if ((at / 4) % 64 < 31) pixels.fill(255, at, at + 4)
    const original = await sharp(pixels, { raw: { width: 64, height: 64, channels: 4 } })
      .png()
      .toBuffer()
    for (const linear of [false, true]) {
      const { seen } = await outputOf(original, { width: 16 }, { linear })
      expect(Math.min(...seen.rgb)).toBeGreaterThan(250)
    }
  })
})

describe('cover', () => {
  const RED = [255, 0, 0]
  const GREEN = [0, 255, 0]
  const BLUE = [0, 0, 255]
  const near = (seen: number[], wanted: number[]) =>
    expect(Math.max(...seen.map((value, i) => Math.abs(value - wanted[i]!)))).toBeLessThan(6)
  const places: [position: Position, colour: number[]][] = [
    ['centre', GREEN],
    ['west', RED],
    ['southeast', BLUE],
    [{ x: 0, y: 0.5 }, RED],
    [{ x: 0.5, y: 0 }, GREEN],
    [{ x: 0.95, y: 1 }, BLUE],
  ]

  it.each(places)('keeps what lies at %o', async (position, colour) => {
    const original = await stripes(['#f00', '#0f0', '#00f'])
    const { seen, width, height } = await outputOf(original, {
      width: 50,
      height: 50,
      fit: 'cover',
      position,
    })
    expect({ width, height }).toEqual({ width: 50, height: 50 })
    near(meanOf(seen), colour)
  })

  it.each([3, 6, 8])('means the picture as it is seen, with orientation %i', async (orientation) => {
    const turned = { 3: 180, 6: 270, 8: 90 }[orientation]!
    const original = await sharp(await stripes(['#f00', '#0f0', '#00f']))
      .rotate(turned)
      .withMetadata({ orientation })
      .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
      .toBuffer()
    for (const [position, colour] of places) {
      const { seen } = await outputOf(original, { width: 50, height: 50, fit: 'cover', position })
      near(meanOf(seen), colour)
    }
  })

  it('keeps what draws attention', async () => {
    const original = await sharp({ create: { width: 600, height: 200, channels: 3, background: '#808890' } })
      .composite([{ input: await picture({ width: 120, height: 120 }).png().toBuffer(), left: 440, top: 40 }])
      .png()
      .toBuffer()
    const asked = { width: 100, height: 100, fit: 'cover' } as const
    const plain = await shown(
      await sharp({ create: { width: 100, height: 100, channels: 3, background: '#808890' } })
        .png()
        .toBuffer(),
    )
    expect(difference((await outputOf(original, { ...asked, position: 'west' })).seen, plain)).toBeLessThan(1)
    expect(
      difference((await outputOf(original, { ...asked, position: 'attention' })).seen, plain),
    ).toBeGreaterThan(10)
  })

  it('of a smaller image is the largest part of the proportions asked for', async () => {
    const original = await stripes(['#f00', '#0f0', '#00f'])
    const { seen, ...output } = await outputOf(original, {
      width: 800,
      height: 400,
      fit: 'cover',
      position: 'east',
    })
    expect(output).toMatchObject({ width: 200, height: 100 })
    near([...seen.rgb.subarray(0, 3)], GREEN)
    near([...seen.rgb.subarray(-3)], BLUE)
    const larger = await outputOf(original, { width: 800, height: 400, fit: 'cover', enlarge: true })
    expect(larger).toMatchObject({ width: 800, height: 400 })
  })
})

describe('contain', () => {
  it('fills up with the background, and keeps the picture whole', async () => {
    const original = await stripes(['#f00', '#00f'])
    const plan = { width: 100, height: 100, fit: 'contain', background: '#00ff00' } as const
    const { seen } = await outputOf(original, plan)
    const at = (x: number, y: number) => [...seen.rgb.subarray((y * 100 + x) * 3, (y * 100 + x) * 3 + 3)]
    expect([at(50, 10), at(10, 50), at(90, 50), at(50, 90)]).toEqual([
      [0, 255, 0],
      [255, 0, 0],
      [0, 0, 255],
      [0, 255, 0],
    ])
    const north = await outputOf(original, { ...plan, position: 'north' })
    expect([...north.seen.rgb.subarray(0, 3)]).toEqual([255, 0, 0])
  })

  it('may fill up with nothing, where the format has transparency', async () => {
    const original = await stripes(['#f00', '#00f'])
    const plan = { width: 100, height: 100, fit: 'contain', background: '#00000000' } as const
    const { data, info } = await sharp((await outputOf(original, plan)).body)
      .raw()
      .toBuffer({ resolveWithObject: true })
    expect([info.channels, data[3], data[(50 * 100 + 50) * 4 + 3]]).toEqual([4, 0, 255])
    const jpeg = await outputOf(original, { ...plan, format: 'jpeg' })
    expect([...jpeg.seen.rgb.subarray(0, 3)]).toEqual([255, 255, 255])
  })

  it('has the background as it is asked for in linear light too', async () => {
    const original = await stripes(['#f00', '#00f'])
    const plan = { width: 100, height: 100, fit: 'contain', background: '#406080' } as const
    const { seen } = await outputOf(original, plan, { linear: true })
    expect([...seen.rgb.subarray(0, 3)]).toEqual([0x40, 0x60, 0x80])
  })
})

describe('an animation', () => {
  const DELAYS = [100, 40, 250, 0, 90]
  const SHOWN_MS = 100 + 40 + 250 + 100 + 90
  const animation = (format: 'gif' | 'webp') =>
    film(SIZE, 5).toFormat(format, { delay: DELAYS, loop: 3 }).toBuffer()

  it.each([
    ['gif', 'webp'],
    ['gif', 'gif'],
    ['webp', 'webp'],
    ['webp', 'gif'],
  ] as const)('%s stays one in %s, with its delays, loops and every frame', async (from, to) => {
    const original = await animation(from)
    const { outputs, codes } = await outputsOf(original, [{ format: to, animated: true, width: 120 }])
    expect(outputs).toMatchObject([{ width: 120, height: 80, frames: 5, durationMs: SHOWN_MS }])
    expect(codes).not.toContain('animation_dropped')
    const { delay, loop, pages } = await sharp(outputs[0]!.body, { animated: true }).metadata()
    expect({ delay, loop, pages }).toEqual({ delay: [100, 40, 250, 100, 90], loop: 3, pages: 5 })
    const [before, after] = [await framesOf(original), await framesOf(outputs[0]!.body)]
    for (const [i, frame] of before.entries()) {
      const reference = await shown(await sharp(frame).resize(120, 80).png().toBuffer())
      expect(difference(await shown(after[i]!), reference)).toBeLessThan(8)
    }
  })

  it.each(['jpeg', 'png', 'avif'] as const)('is its first frame in %s, with a warning', async (format) => {
    const original = await animation('gif')
    const output = await outputOf(original, { format, animated: true, width: 120 })
    expect(output).toMatchObject({ width: 120, height: 80, frames: 1, durationMs: null })
    expect(output.codes).toContain('animation_dropped')
    const [first] = await framesOf(original)
    const poster = await shown(await sharp(first!).resize(120, 80).png().toBuffer())
    expect(difference(output.seen, poster)).toBeLessThan(6)
  })

  it('names the outputs that show its first frame only, and lets the others move', async () => {
    const { outputs, warnings } = await outputsOf(await animation('webp'), [
      { name: 'moving', format: 'webp', animated: true, width: 90 },
      { name: 'still', format: 'webp', width: 120 },
    ])
    expect(outputs.map(({ name, frames }) => [name, frames])).toEqual([
      ['moving', 5],
      ['still', 1],
    ])
    expect(warnings).toEqual([{ code: 'animation_dropped', message: expect.stringMatching(/: still$/) }])
  })

  it('is told of in a sentence that the worker takes, however many outputs lose it', async () => {
    const plans = Array.from({ length: 16 }, (_, i) => ({
      ...{ name: `${i}`.padStart(64, 'n'), width: 9, format: 'jpeg' as const },
    }))
    const { warnings } = await outputsOf(await animation('gif'), plans)
    expect(warnings.map(({ message }) => message.length)).toEqual([1_000])
  })

  it('is cut in the same place in each frame', async () => {
    const original = await animation('webp')
    for (const position of ['east', 'attention'] as const) {
      const plan = {
        format: 'webp',
        animated: true,
        width: 100,
        height: 100,
        fit: 'cover',
        position,
        quality: 95,
      } as const
      const { outputs } = await outputsOf(original, [plan])
      const stills = await Promise.all(
        (await framesOf(outputs[0]!.body)).map((frame) =>
          sharp(frame).removeAlpha().extract({ left: 0, top: 66, width: 100, height: 34 }).png().toBuffer(),
        ),
      )
      // The ground does not move.
      const [first, ...others] = await Promise.all(stills.map(shown))
      for (const other of others) expect(difference(first!, other)).toBeLessThan(6)
    }
  })

  it('keeps its frames apart to the last row', async () => {
    const frame = (value: number) => Buffer.alloc(60 * 45 * 3, value)
    const original = await sharp(Buffer.concat([frame(0), frame(255), frame(0)]), {
      raw: { width: 60, height: 135, channels: 3, pageHeight: 45 },
    })
      .gif({ delay: [100, 100, 100] })
      .toBuffer()
    const { outputs } = await outputsOf(original, [{ format: 'gif', animated: true, width: 20 }])
    const means = await Promise.all(
      (await framesOf(outputs[0]!.body)).map(async (still) => meanOf(await shown(still))),
    )
    expect(means).toEqual([
      [0, 0, 0],
      [255, 255, 255],
      [0, 0, 0],
    ])
  })

  it('that is to be turned is turned frame by frame', async () => {
    const original = await film({ width: 60, height: 40 }, 3)
      .webp({ lossless: true, delay: [100, 100, 100] })
      .withMetadata({ orientation: 6 })
      .toBuffer()
    const { outputs } = await outputsOf(original, [{ format: 'webp', animated: true }])
    expect(outputs).toMatchObject([{ width: 40, height: 60, frames: 3, durationMs: 300 }])
    const [before, after] = [await framesOf(original), await framesOf(outputs[0]!.body)]
    for (const [i, still] of before.entries()) {
      const reference = await shown(await sharp(still).rotate(90).png().toBuffer())
      expect(difference(await shown(after[i]!), reference)).toBeLessThan(8)
    }
  })

  it('that is too large over all of its frames is made smaller, and says so', async () => {
    const { outputs, codes } = await outputsOf(
      await animation('gif'),
      [{ format: 'webp', animated: true, width: 4_000, enlarge: true }],
      {},
      { maxPixels: SIZE.width * SIZE.height },
    )
    expect(outputs[0]!.frames).toBe(5)
    expect(5 * outputs[0]!.width * outputs[0]!.height).toBeLessThanOrEqual(1.01 * SIZE.width * SIZE.height)
    expect(codes).toEqual(['output_clamped'])
  })
})

describe('an output’s size', () => {
  it.each([
    [20_000, 4, 'webp', 16_383, 3],
    [20_000, 4, 'avif', 16_384, 3],
    [4, 20_000, 'webp', 3, 16_383],
  ] as const)(
    'of %i × %i is kept to what %s can hold, with a warning',
    async (width, height, format, most, other) => {
      const original = await sharp({ create: { width, height, channels: 3, background: '#369' } })
        .png()
        .toBuffer()
      const { outputs, warnings } = await outputsOf(original, [{ name: 'own', format }])
      expect(outputs).toMatchObject([{ width: most, height: other }])
      expect(warnings).toEqual([
        { code: 'output_clamped', message: expect.stringContaining(`own to ${most} × ${other}`) },
      ])
    },
  )

  it('is enlarged where the plan says so only', async () => {
    const original = await picture({ width: 40, height: 30 }).png().toBuffer()
    expect(await outputOf(original, { width: 400 })).toMatchObject({ width: 40, height: 30, codes: [] })
    expect(await outputOf(original, { width: 400, enlarge: true })).toMatchObject({ width: 400, height: 300 })
  })

  it('is each output’s own, from one image that is decoded once', async () => {
    const original = await picture(SIZE).jpeg().toBuffer()
    const { outputs } = await outputsOf(original, [
      { name: 'small', width: 60 },
      { name: 'square', width: 100, height: 100, fit: 'cover' },
      { name: 'large', width: 400 },
    ])
    expect(outputs.map(({ name, width, height }) => [name, width, height])).toEqual([
      ['small', 60, 40],
      ['square', 100, 100],
      ['large', 400, 267],
    ])
    const reference = await shown(await picture(SIZE).resize(60, 40).png().toBuffer())
    expect(difference(await shown(outputs[0]!.body), reference)).toBeLessThan(3)
  })
})

describe('linear light', () => {
  /** Black and white pixels in turn: half of the light, which is 188 in sRGB, and half of the code values, which is 128. */
  function chequers(): Sharp {
    const pixels = Buffer.alloc(128 * 128 * 3)
    for (let i = 0; i < 128 * 128; i++) pixels.fill((i + (i >> 7)) % 2 ? 255 : 0, 3 * i, 3 * i + 3)
    return sharp(pixels, { raw: { width: 128, height: 128, channels: 3 } })
  }

  it.each<[kind: string, make: () => Promise<Buffer>]>([
    ['plain', () => chequers().png().toBuffer()],
    ['tagged with a wide gamut', () => chequers().withIccProfile('p3').png().toBuffer()],
    [
      'of four inks',
      () => chequers().toColourspace('cmyk').jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer(),
    ],
    ['of 16 bits', () => chequers().toColourspace('rgb16').png().toBuffer()],
  ])('is kept while resizing where the preset says so, of an image that is %s', async (_, make) => {
    const original = await make()
    const mean = async (linear: boolean) =>
      meanOf((await outputOf(original, { width: 32 }, { linear })).seen)[1]!
    expect(Math.abs((await mean(false)) - 128)).toBeLessThan(12)
    expect(Math.abs((await mean(true)) - 188)).toBeLessThan(12)
  })

  it('changes no plain colour', async () => {
    const original = await sharp({ create: { width: 90, height: 60, channels: 4, background: '#c80a0380' } })
      .png()
      .toBuffer()
    const { body } = await outputOf(original, { width: 30 }, { linear: true })
    const { data } = await sharp(body).raw().toBuffer({ resolveWithObject: true })
    expect([...data.subarray(0, 4)]).toEqual([200, 10, 3, 128])
  })
})

describe('what an output says beside its picture', () => {
  const place = { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' }
  const original = () =>
    picture(SIZE)
      .withExif({
        IFD0: { Copyright: '2020 Ann (all rights) ()', Artist: 'Ann ()', Make: 'Camera' },
        IFD2: { UserComment: 'at home' },
        IFD3: place,
      })
      .jpeg()
      .toBuffer()

  it.each(FORMATS)('is nothing in %s', async (format) => {
    const { body } = await outputOf(await original(), { format, width: 100 })
    const { exif, xmp, iptc, icc, comments } = await sharp(body).metadata()
    expect([exif, xmp, iptc, icc, comments]).toEqual([undefined, undefined, undefined, undefined, undefined])
    expect(Buffer.from(body).includes('Ann')).toBe(false)
  })

  it.each(['jpeg', 'webp', 'avif', 'png'] as const)(
    'is the copyright notice in %s where the preset keeps it',
    async (format) => {
      const { body } = await outputOf(await original(), { format, width: 100 }, { keepCopyright: true })
      const { exif, xmp, icc, orientation } = await sharp(body).metadata()
      const text = exif!.toString('latin1')
      expect(text).toContain('2020 Ann (all rights)\0')
      expect(text).toContain('\0Ann\0')
      expect(text).not.toMatch(/Camera|at home/)
      expect([xmp, icc, orientation ?? 1]).toEqual([undefined, undefined, 1])
    },
  )

  it('is nothing where there is no notice to keep', async () => {
    const { body } = await outputOf(
      await picture(SIZE).jpeg().toBuffer(),
      { format: 'jpeg' },
      { keepCopyright: true },
    )
    expect((await sharp(body).metadata()).exif).toBeUndefined()
  })
})
