import { describe, expect, it } from 'vitest'
import {
  type AvifItem,
  avif,
  box,
  fileType,
  fullBox,
  meta,
  property,
} from '../../../test/images/bytes/avif.ts'
import { factsOf, inspect, refusalOf } from '../../../test/images/inspect.ts'

const { size, rotation, channels, codec, alpha, cicp, crop } = property
const item = (...properties: Buffer[]): AvifItem => ({ id: 1, properties })

describe('an AVIF', () => {
  it('tells the size, bits and colours of its primary item', () => {
    expect(factsOf(avif([item(codec(10), size(600, 400), channels(3, 10), cicp(9, 16))]))).toEqual({
      type: 'avif',
      contentType: 'image/avif',
      width: 600,
      height: 400,
      orientation: 1,
      animated: false,
      frames: 1,
      channels: 3,
      alpha: false,
      bitDepth: 10,
      cicp: { primaries: 9, transfer: 16 },
    })
    expect(factsOf(avif([item(codec(12), size(6, 4))]))).toMatchObject({ bitDepth: 12, channels: 3 })
  })

  it('is not mistaken for its thumbnail or its alpha plane', () => {
    const bytes = avif([
      item(size(600, 400), channels(3, 8)),
      { id: 2, properties: [size(60, 40)] },
      { id: 3, properties: [size(601, 401), alpha()] },
    ])
    expect(factsOf(bytes)).toMatchObject({ width: 600, height: 400, alpha: true, channels: 4 })
  })

  it('has the size that it is seen in: cropped, then rotated', () => {
    expect(factsOf(avif([item(size(600, 400), rotation(1))]))).toMatchObject({ width: 400, height: 600 })
    expect(factsOf(avif([item(size(600, 400), rotation(2))]))).toMatchObject({ width: 600, height: 400 })
    expect(factsOf(avif([item(size(600, 400), crop(500, 100), rotation(3))]))).toMatchObject({
      width: 100,
      height: 500,
    })
    expect(factsOf(avif([item(size(600, 400), crop(0, 100))]))).toMatchObject({ width: 600, height: 400 })
  })

  it('may be a grid, or have its description behind its data', () => {
    const grid = [
      { id: 9, type: 'grid', properties: [size(600, 400)] },
      { id: 1, properties: [size(300, 400)] },
    ]
    expect(factsOf(avif(grid))).toMatchObject({ width: 600, height: 400 })
    const behind = [fileType('avif', 'mif1'), box('mdat', Buffer.alloc(1_000)), meta([item(size(6, 4))])]
    expect(factsOf(Buffer.concat(behind))).toMatchObject({ width: 6, height: 4 })
  })

  it('is accepted with data that goes on to the end, and with a few bytes behind it', () => {
    const open = Buffer.from('000000006d646174', 'hex')
    expect(
      factsOf(Buffer.concat([fileType('avif'), meta([item(size(6, 4))]), open, Buffer.alloc(50)])),
    ).toMatchObject({ width: 6 })
    expect(factsOf(Buffer.concat([avif([item(size(6, 4))]), Buffer.alloc(3)]))).toMatchObject({ width: 6 })
  })

  it('says that it is animated where a sequence comes with its still', () => {
    const bytes = avif([item(size(6, 4))], fileType('avif', 'avif', 'avis'))
    expect(factsOf(bytes).animated).toBe(true)
    expect(factsOf(bytes).frames).toBeUndefined()
  })

  it.each([
    ['hvc1', /HEVC/],
    ['j2k1', /JPEG 2000/],
    ['unci', /uncompressed/],
    ['mime', /type "mime"/],
  ])('whose image is of another codec is refused by its name: %s', (type, name) => {
    const refusal = refusalOf(avif([{ id: 1, type, properties: [size(6, 4)] }], fileType('mif1', 'miaf')))
    expect(refusal).toMatchObject({ status: 415, code: 'unsupported_type' })
    expect(refusal.message).toMatch(name)
  })

  it('whose grid is of another codec is refused by its name', () => {
    const grid = [
      { id: 9, type: 'grid', properties: [size(6, 4)] },
      { id: 1, type: 'hvc1', properties: [] },
    ]
    expect(refusalOf(avif(grid)).message).toMatch(/HEVC/)
  })

  it('over the limit is refused, by any of its items', () => {
    expect(refusalOf(avif([item(size(16_384, 16_384))]))).toMatchObject({ code: 'too_many_pixels' })
    expect(
      refusalOf(avif([item(size(6, 4)), { id: 2, properties: [size(2 ** 32 - 1, 2 ** 32 - 1)] }])),
    ).toMatchObject({
      code: 'too_many_pixels',
    })
  })

  it('is truncated wherever a box is cut', () => {
    const whole = avif([item(codec(8), size(600, 400), channels(3, 8))])
    const description = whole.indexOf('meta') - 4
    const data = whole.indexOf('mdat') - 4
    for (let bytes = 12; bytes < whole.length; bytes++) {
      // Cut between two boxes, or within the head of the next, nothing is missing that a head has promised.
      const between = [description, data].some((start) => bytes >= start && bytes < start + 8)
      if (!between) expect(inspect(whole.subarray(0, bytes))).toMatchObject({ ok: false, code: 'truncated' })
    }
  })

  const tooShort = avif([item(size(6, 4))])
  tooShort.writeUInt32BE(9, tooShort.indexOf('ispe') - 4)
  const noSize = avif([item(size(6, 4))])
  noSize.writeUInt32BE(4, noSize.indexOf('ispe') - 4)
  const tooLong = avif([item(size(6, 4))])
  tooLong.writeUInt32BE(9_999, tooLong.indexOf('ispe') - 4)
  it.each([
    ['no description', Buffer.concat([fileType('avif'), box('mdat', Buffer.alloc(9))])],
    ['no primary item', Buffer.concat([fileType('avif'), fullBox('meta', 0, 0)])],
    ['no size', avif([item(codec(8))])],
    ['a size of 0', avif([item(size(0, 4))])],
    ['a box shorter than its head', noSize],
    ['a box shorter than its fields', tooShort],
    ['a box longer than the one around it', tooLong],
  ])('with %s is corrupt', (_, bytes) => {
    expect(refusalOf(bytes)).toMatchObject({ status: 422, code: 'corrupt' })
  })
})
