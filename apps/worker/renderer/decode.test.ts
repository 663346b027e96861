import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../core/limits.ts'
import { jpegSegment } from '../../../test/images/bytes/jpeg.ts'
import {
  animationControl,
  chunksOf,
  frameControl,
  frameData,
  PNG_SIGNATURE,
  pngChunk,
} from '../../../test/images/bytes/png.ts'
import { factsOf, refusalOf } from '../../../test/images/inspect.ts'
import { film, picture } from '../../../test/images/picture.ts'
import { testImage } from '../../../test/images.ts'
import { decode } from './decode.ts'
import { refuseLeniency } from './leniency.ts'
import { codesOf, decoded, middleOf } from './testing/decoded.ts'
import { displayP3, greyProfile, proPhotoProfile, withProfile } from './testing/icc-profile.ts'
import { taggedPng, withChunk } from './testing/tagged-png.ts'

const SMALL = { width: 60, height: 40 }

/** Of one colour. */
function plain(background: string, size = { width: 24, height: 16 }) {
  return sharp({ create: { ...size, channels: 3, background } })
}

function near(actual: number[], expected: number[], within: number): void {
  actual.forEach((value, i) => {
    expect(Math.abs(value - expected[i]!), `${actual} is not ${expected}`).toBeLessThanOrEqual(within)
  })
}

describe('decoding', () => {
  it('is of the size that was chosen, once it knows the image’s own', async () => {
    const jpeg = await picture({ width: 640, height: 480 }).jpeg().toBuffer()
    const { picture: small } = await decoded(jpeg, { side: 100 })
    expect(small).toMatchObject({
      width: 100,
      height: 75,
      channels: 3,
      frames: 1,
      delaysMs: null,
      loop: null,
    })
    expect(small.data).toHaveLength(100 * 75 * 3)
  })

  it('leaves shrinking to others where that is to be in linear light', async () => {
    const jpeg = await picture(SMALL).jpeg().toBuffer()
    expect((await decoded(jpeg, { side: 10, linear: true })).picture).toMatchObject(SMALL)
  })

  it('of an animation stacks as many frames as are asked for, with their delays', async () => {
    const { bytes } = await testImage('webp-animated')
    const { picture: three, source } = await decoded(bytes, { frames: 3 })
    const { width, height, channels, data } = three
    expect(three).toMatchObject({ frames: 3, delaysMs: [100, 100, 200], loop: 3 })
    expect(data).toHaveLength(width * height * channels * 3)
    expect(source.delaysMs).toEqual([100, 100, 200, 100, 100])
    const { picture: one } = await decoded(bytes)
    expect(one).toMatchObject({ frames: 1, delaysMs: null, loop: null })
    expect(one.data.equals(data.subarray(0, one.data.length))).toBe(true)
  })

  it('of an animation shrinks it as it is read only where it is too large to be held whole', async () => {
    const bytes = await film(SMALL, 3).webp().toBuffer()
    const choose = () => ({ width: 30, height: 20, frames: 3 })
    const widthWithin = async (maxPixels: number) => {
      const limits = { ...DEFAULT_LIMITS, maxPixels }
      return (await decode(bytes, factsOf(bytes), limits, choose, { linear: false })).picture.width
    }
    expect(await widthWithin(3 * 60 * 40)).toBe(60)
    expect(await widthWithin(3 * 60 * 40 - 1)).toBe(30)
  })

  it('of an animation turns each frame upright', async () => {
    const upright = await film(SMALL, 3).webp({ lossless: true, effort: 0 }).toBuffer()
    const whole = (await decoded(upright, { frames: 3 })).picture
    const frameBytes = whole.width * whole.height * whole.channels
    const { width, height, channels } = whole
    // What a camera on its side stores: each frame turned to the left.
    const stored = await Promise.all(
      [0, 1, 2].map((i) =>
        sharp(whole.data.subarray(i * frameBytes, (i + 1) * frameBytes), { raw: { width, height, channels } })
          .rotate(270)
          .raw()
          .toBuffer(),
      ),
    )
    const turned = await sharp(Buffer.concat(stored), {
      raw: { width: height, height: width * 3, channels, pageHeight: width },
    })
      .webp({ lossless: true, effort: 0 })
      .withMetadata({ orientation: 6 })
      .toBuffer()
    const seen = (await decoded(turned, { frames: 3 })).picture
    expect(seen).toMatchObject({ ...SMALL, frames: 3 })
    expect(seen.data.equals(whole.data)).toBe(true)
  })
})

describe('an AVIF', () => {
  it('is mirrored where its container says so, which the decoder does by itself', async () => {
    const size = { width: 64, height: 48 }
    const avif = await picture(size).avif({ effort: 0 }).toBuffer()
    // In place of the property that tells the bits of each channel, which nothing needs.
    const at = avif.indexOf('pixi', 0, 'latin1')
    const mirrored = Buffer.from(avif)
    mirrored.write('imir', at, 'latin1')
    mirrored.fill(0, at + 4, at + 12)
    mirrored[at + 4] = 1
    const [straight, seen] = [await decoded(avif), await decoded(mirrored)]
    const { data, width, height, channels } = straight.picture
    const flopped = await sharp(data, { raw: { width, height, channels } }).flop().raw().toBuffer()
    expect(seen.picture.data.equals(data)).toBe(false)
    expect(seen.picture.data.equals(flopped)).toBe(true)
  })
})

describe('an animated PNG', () => {
  const still = (colour: string, size: typeof SMALL) =>
    sharp({ create: { ...size, channels: 4, background: colour } })
      .png()
      .toBuffer()

  async function apng(frame: { width: number; height: number; left?: number; top?: number }, own: boolean) {
    const data = (png: Buffer) =>
      Buffer.concat(chunksOf(png).flatMap(({ type, data: bytes }) => (type === 'IDAT' ? [bytes] : [])))
    const red = chunksOf(await still('#ff0000', SMALL))
    const green = await still('#00ff00', frame)
    const control = Buffer.from(frameControl(own ? 1 : 0, frame))
    const body = Buffer.from(control.subarray(8, -4))
    body.writeUInt32BE(frame.left ?? 0, 12)
    body.writeUInt32BE(frame.top ?? 0, 16)
    return Buffer.concat([
      PNG_SIGNATURE,
      pngChunk('IHDR', red[0]!.data),
      animationControl(own ? 2 : 1),
      ...(own ? [frameControl(0, SMALL)] : []),
      pngChunk(
        'IDAT',
        Buffer.concat(red.flatMap(({ type, data: bytes }) => (type === 'IDAT' ? [bytes] : []))),
      ),
      pngChunk('fcTL', body),
      frameData(own ? 2 : 1, data(green)),
      pngChunk('IEND'),
    ])
  }

  it('is its first frame, not the default image that browsers never show', async () => {
    const seen = await decoded(await apng(SMALL, false))
    expect(middleOf(seen)).toEqual([0, 255, 0])
    expect(codesOf(seen)).toEqual(['apng_as_still'])
  })

  it('is its default image where that is the first frame', async () => {
    const seen = await decoded(await apng(SMALL, true))
    expect(middleOf(seen)).toEqual([255, 0, 0])
    expect(codesOf(seen)).toEqual(['apng_as_still'])
  })

  it('has its first frame where it belongs on the canvas', async () => {
    const { picture: seen } = await decoded(await apng({ width: 20, height: 10, left: 30, top: 20 }, false))
    expect(seen).toMatchObject(SMALL)
    const pixel = (x: number, y: number) => [...seen.data.subarray((y * 60 + x) * 4, (y * 60 + x) * 4 + 4)]
    expect(pixel(35, 25)).toEqual([0, 255, 0, 255])
    expect([pixel(29, 25)[3], pixel(35, 19)[3], pixel(50, 25)[3], pixel(35, 30)[3]]).toEqual([0, 0, 0, 0])
  })

  it('is refused when its frame lies outside of its canvas, or is not there', async () => {
    const outside = await apng({ width: 40, height: 10, left: 30, top: 0 }, false)
    await expect(decoded(outside)).rejects.toMatchObject({ name: 'PermanentError', code: 'corrupt' })
    const none = withChunk(await still('#ff0000', SMALL), 'acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]))
    await expect(decoded(none)).rejects.toMatchObject({ name: 'PermanentError', code: 'corrupt' })
  })
})

describe('colours that are tagged', () => {
  const P3 = { primaries: 12, transfer: 13 }
  const PQ = { primaries: 9, transfer: 16 }
  const HLG = { primaries: 9, transfer: 18 }

  it('as Display P3 become what the profile of Display P3 makes of them', async () => {
    const byTag = await decoded(await taggedPng([0.6, 0.5, 0.4], P3))
    const samples = await plain('#998066').png().toBuffer()
    near(middleOf(byTag), middleOf(await decoded(withProfile(samples, await displayP3()))), 1)
    expect(middleOf(byTag)).not.toEqual(middleOf(await decoded(samples)))
    expect(codesOf(byTag)).toEqual(['bit_depth_reduced'])
  })

  it('as sRGB, or as BT.709, stay as they are', async () => {
    for (const transfer of [1, 13]) {
      const seen = await decoded(await taggedPng([0.8, 0.4, 0.2], { primaries: 1, transfer }))
      near(middleOf(seen), [204, 102, 51], 1)
      expect(codesOf(seen)).toEqual(['bit_depth_reduced'])
    }
  })

  it('as linear light are encoded', async () => {
    near(
      middleOf(await decoded(await taggedPng([0.2159, 0.2159, 0.2159], { primaries: 1, transfer: 8 }))),
      [128, 128, 128],
      1,
    )
  })

  it('as something unknown are shown as sRGB, with a warning', async () => {
    const seen = await decoded(await taggedPng([0.8, 0.4, 0.2], { primaries: 10, transfer: 17 }))
    near(middleOf(seen), [204, 102, 51], 1)
    expect(codesOf(seen)).toEqual(['bit_depth_reduced', 'profile_broken'])
  })

  it.each([
    // The reference white of 203 cd/m² by either curve, and what lies above and below it.
    ['PQ', PQ, 0.5807, 191],
    ['PQ', PQ, 0.4403, 124],
    ['PQ', PQ, 0.7518, 255],
    ['PQ', PQ, 0, 0],
    ['HLG', HLG, 0.75, 191],
    ['HLG', HLG, 1, 255],
    ['HLG', HLG, 0, 0],
  ])('as %s are tone-mapped: %# %o %d to %d', async (_, tag, signal, expected) => {
    const seen = await decoded(await taggedPng([signal, signal, signal], tag))
    near(middleOf(seen), [expected, expected, expected], 3)
    expect(codesOf(seen)).toEqual(['bit_depth_reduced', 'hdr_lost'])
  })

  it('outside of sRGB are moved to its edge, with a warning', async () => {
    const seen = await decoded(await taggedPng([0, 1, 0], { primaries: 9, transfer: 13 }))
    expect(middleOf(seen)).toEqual([0, 255, 0])
    expect(codesOf(seen)).toContain('gamut_clipped')
  })

  it('keep their alpha', async () => {
    const half = await sharp({
      create: { ...SMALL, channels: 4, background: { r: 200, g: 100, b: 50, alpha: 0.5 } },
    })
      .png()
      .toBuffer()
    const { picture: seen } = await decoded(withChunk(half, 'cICP', Buffer.from([12, 13, 0, 1])))
    expect(seen.channels).toBe(4)
    expect(seen.data[3]).toBe(128)
  })
})

describe('colours with a profile', () => {
  it('of a wider gamut are said to be clipped only where they were', async () => {
    const inP3 = async (colour: string) =>
      withProfile(await plain(colour).png().toBuffer(), await displayP3())
    expect(codesOf(await decoded(await inP3('#808080')))).toEqual([])
    expect(codesOf(await decoded(await inP3('#ffffff')))).toEqual([])
    const seen = await decoded(await inP3('#ff0000'))
    expect(codesOf(seen)).toEqual(['gamut_clipped'])
    near(middleOf(seen), [255, 0, 0], 1)
  })

  it.each(['srgb', 'rgb16'])('of a very wide gamut are converted before it is dropped: %s', async (space) => {
    const samples = await plain('#8090a8').toColourspace(space).png().toBuffer()
    const seen = await decoded(withProfile(samples, proPhotoProfile()))
    // By the profile's matrix and curve, to D50, and from there to sRGB.
    near(middleOf(seen), [119, 164, 186], 2)
    expect(codesOf(seen)).not.toContain('gamut_clipped')
  })

  it('of deep grey follow it', async () => {
    const deep = await plain('#808080').toColourspace('grey16').png().toBuffer()
    expect((await sharp(deep).metadata()).space).toBe('grey16')
    // Linear light of a half.
    near(middleOf(await decoded(withProfile(deep, greyProfile(1)))), [188, 188, 188], 2)
    near(middleOf(await decoded(deep)), [128, 128, 128], 1)
  })

  it('that cannot be used are converted without, with a warning', async () => {
    const profile = await displayP3()
    const jpeg = await plain('#408020').jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer()
    const cmyk = Buffer.from(profile)
    cmyk.write('CMYK', 16, 'latin1')
    const cut = profile.subarray(0, profile.length - 40)
    for (const broken of [cmyk, cut, Buffer.from('no profile at all')]) {
      const header = Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1')
      const at = 4 + jpeg.readUInt16BE(4)
      const segment = jpegSegment(0xe2, Buffer.concat([header, broken]))
      const seen = await decoded(Buffer.concat([jpeg.subarray(0, at), segment, jpeg.subarray(at)]))
      near(middleOf(seen), [64, 128, 32], 2)
      expect(codesOf(seen)).toEqual(['profile_broken'])
      expect(() => refuseLeniency(seen.warnings)).toThrow(expect.objectContaining({ code: 'not_strict' }))
    }
  })

  it('of CMYK are a guess without one, and said to be so', async () => {
    const cmyk = await plain('#c82828').toColourspace('cmyk').jpeg().toBuffer()
    const bare = await sharp(cmyk, { ignoreIcc: true }).toColourspace('cmyk').jpeg().toBuffer()
    expect((await sharp(bare).metadata()).hasProfile).toBe(false)
    expect(codesOf(await decoded(bare))).toEqual(['profile_missing'])
  })
})

describe('what an output loses', () => {
  it('of a gain map is said', async () => {
    const jpeg = await picture(SMALL).jpeg().toBuffer()
    const xmp =
      'http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"/>'
    for (const segment of [
      jpegSegment(0xe1, Buffer.from(xmp, 'latin1')),
      jpegSegment(0xe2, Buffer.from('urn:iso:std:iso:ts:21496:-1\0\0\0\0\0', 'latin1')),
    ]) {
      const withMap = Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)])
      expect(codesOf(await decoded(withMap))).toEqual(['gain_map_lost'])
    }
    expect(codesOf(await decoded(jpeg))).toEqual([])
  })

  it('of its bits is said', async () => {
    expect(codesOf(await decoded((await testImage('png-16-bit')).bytes))).toEqual(['bit_depth_reduced'])
  })
})

describe('samples that are no picture’s', () => {
  it('are refused by their kind and the limit', async () => {
    const floats = await picture(SMALL).toColourspace('scrgb').tiff({ compression: 'lzw' }).toBuffer()
    expect(refusalOf(floats)).toMatchObject({
      code: 'unsupported_type',
      message: expect.stringContaining('32 bits a sample (the limit is 16)'),
    })
  })
})
