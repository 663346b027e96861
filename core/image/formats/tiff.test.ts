import { describe, expect, it } from 'vitest'
import { type TiffField, type TiffOptions, tiff, tiffImage } from '../../../test/images/bytes/tiff.ts'
import { factsOf, inspect, refusalOf } from '../../../test/images/inspect.ts'
import { DEFAULT_LIMITS } from '../../limits.ts'

const LAYOUTS: [name: string, options: TiffOptions][] = [
  ['little-endian', { littleEndian: true }],
  ['big-endian', { littleEndian: false }],
  ['a little-endian BigTIFF', { littleEndian: true, big: true }],
  ['a big-endian BigTIFF', { littleEndian: false, big: true }],
  ['with its data before its directory', { before: Buffer.alloc(5_000) }],
]

const without = (tag: number, ...more: TiffField[]) => [
  ...tiffImage(60, 40).filter(([one]) => one !== tag),
  ...more,
]

describe('a TIFF', () => {
  it('of more channels, or more bits, than pictures have is refused by limit and value', () => {
    const of = (...more: TiffField[]) =>
      refusalOf(
        tiff([[...tiffImage(4, 4).filter(([tag]) => !more.some(([other]) => other === tag)), ...more]]),
      )
    expect(of([277, 3, 9])).toMatchObject({
      code: 'unsupported_type',
      fault: 'service',
      message: expect.stringContaining('a TIFF of 9 channels (the limit is 5)'),
    })
    expect(of([258, 3, 32])).toMatchObject({
      message: expect.stringContaining('32 bits a sample (the limit is 16)'),
    })
  })

  it.each(LAYOUTS)('tells its size, channels and bits: %s', (_, options) => {
    expect(factsOf(tiff([tiffImage(600, 400)], options))).toEqual({
      type: 'tiff',
      contentType: 'image/tiff',
      width: 600,
      height: 400,
      orientation: 1,
      animated: false,
      frames: 1,
      channels: 3,
      alpha: false,
      bitDepth: 8,
    })
  })

  it('leaves out what lies behind its directory', () => {
    const facts = factsOf(tiff([tiffImage(600, 400)], { valuesBefore: true, littleEndian: false }))
    expect(facts).toMatchObject({ width: 600, height: 400, channels: 3 })
    expect(facts.bitDepth).toBeUndefined()
  })

  it('has the size that it is seen in', () => {
    expect(factsOf(tiff([tiffImage(600, 400, [274, 3, 6])]))).toMatchObject({
      width: 400,
      height: 600,
      orientation: 6,
    })
    expect(factsOf(tiff([tiffImage(600, 400, [274, 3, 0])]))).toMatchObject({
      width: 600,
      height: 400,
      orientation: 1,
    })
  })

  it('may be transparent by an extra sample', () => {
    expect(factsOf(tiff([tiffImage(6, 4, [338, 3, 2])])).alpha).toBe(true)
    expect(factsOf(tiff([tiffImage(6, 4, [338, 3, 0])])).alpha).toBe(false)
  })

  it('counts its pages where they come in order', () => {
    expect(factsOf(tiff([tiffImage(60, 40), tiffImage(6, 4), tiffImage(6, 4)]))).toMatchObject({
      width: 60,
      frames: 3,
    })
    const backwards = tiff([tiffImage(60, 40)])
    backwards.writeUInt32LE(8, 8 + 2 + 6 * 12)
    expect(factsOf(backwards).frames).toBeUndefined()
    const emptyBehind = tiff([tiffImage(60, 40), []])
    expect(factsOf(emptyBehind)).toMatchObject({ width: 60, height: 40 })
    const limits = { ...DEFAULT_LIMITS, maxFrames: 2 }
    expect(refusalOf(tiff([tiffImage(6, 4), tiffImage(6, 4), tiffImage(6, 4)]), limits)).toMatchObject({
      code: 'too_many_frames',
      message: 'the TIFF has at least 3 pages; the limit is 2',
    })
  })

  it('over the limit is refused, by its tiles too', () => {
    expect(refusalOf(tiff([tiffImage(100_000, 1_001)]))).toMatchObject({ code: 'too_many_pixels' })
    expect(refusalOf(tiff([tiffImage(6, 4, [322, 4, 65_536], [323, 4, 65_536])]))).toMatchObject({
      code: 'too_many_pixels',
      message: 'a TIFF tile of 65536 × 65536 is 4294967296 pixels; the limit is 100000000',
    })
  })

  it.each([
    [6, /old-style JPEG/],
    [34_712, /JPEG 2000/],
    [50_000, /Zstandard/],
  ])('of a compression that is not decoded is refused by its name: %i', (compression, name) => {
    const refusal = refusalOf(tiff([without(259, [259, 3, compression])]))
    expect(refusal).toMatchObject({ status: 415, code: 'unsupported_type' })
    expect(refusal.message).toMatch(name)
  })

  const make = (maker: string): TiffField => [271, 2, maker]
  const preview: TiffField = [254, 4, 1]
  const others: TiffField = [330, 4, [9_000, 9_999]]
  it.each<[string, RegExp, TiffField[]]>([
    ['DNG', /DNG/, tiffImage(600, 400, [50_706, 1, [1, 4, 0, 0]])],
    ['NEF', /Nikon NEF/, tiffImage(160, 120, preview, make('NIKON CORPORATION'), others)],
    ['ARW', /Sony ARW/, [...without(259, [259, 3, 6]), preview, make('SONY'), others]],
    ['KDC', /Kodak KDC/, tiffImage(96, 64, make('EASTMAN KODAK COMPANY'), others)],
    ['KDC by its own directory', /Kodak KDC/, tiffImage(600, 400, make('Kodak'), [65_024, 4, 900])],
    ['PEF', /Pentax PEF/, [...without(262, [262, 3, 32_803]), make('PENTAX Corporation')]],
    ['an unknown maker', /camera RAW.*preview/, tiffImage(160, 120, preview, make('Someone'), others)],
  ])('that is camera RAW is refused by its name: %s', (_, name, fields) => {
    for (const littleEndian of [true, false]) {
      const refusal = refusalOf(tiff([fields], { littleEndian }))
      expect(refusal).toMatchObject({ status: 415, code: 'unsupported_type' })
      expect(refusal.message).toMatch(name)
    }
  })

  it('with smaller copies of itself is no camera RAW', () => {
    expect(factsOf(tiff([tiffImage(6_000, 4_000, make('SONY'), others)]))).toMatchObject({ width: 6_000 })
    expect(factsOf(tiff([tiffImage(60, 40, others)]))).toMatchObject({ width: 60 })
  })

  it('is truncated wherever it is cut before the end of its first directory', () => {
    const whole = tiff([tiffImage(60, 40)], { before: Buffer.alloc(100) })
    const directoryEnd = 8 + 100 + 2 + 6 * 12 + 4
    for (let bytes = 4; bytes < directoryEnd; bytes++) {
      expect(inspect(whole.subarray(0, bytes))).toMatchObject({ ok: false, code: 'truncated' })
    }
    expect(inspect(whole.subarray(0, directoryEnd))).toMatchObject({ ok: true })
  })

  const inHeader = tiff([tiffImage(60, 40)])
  inHeader.writeUInt32LE(4, 4)
  const oddOffsets = tiff([tiffImage(60, 40)], { big: true })
  oddOffsets.writeUInt16LE(4, 4)
  it.each([
    ['a directory in its header', inHeader],
    ['an empty first directory', tiff([[]])],
    ['no width', tiff([without(256)])],
    ['a height of 0', tiff([without(257, [257, 4, 0])])],
    ['offsets of another size', oddOffsets],
  ])('with %s is corrupt', (_, bytes) => {
    expect(refusalOf(bytes)).toMatchObject({ status: 422, code: 'corrupt' })
  })
})
