import { describe, expect, it } from 'vitest'
import { jpeg, jpegExif, jpegFrame, jpegScan, jpegSegment, SOI } from '../../../test/images/bytes/jpeg.ts'
import { factsOf, inspect, refusalOf } from '../../../test/images/inspect.ts'

const size = { width: 600, height: 400 }
const frame = jpegFrame(size)

describe('a JPEG', () => {
  it('tells its size and channels in its frame header', () => {
    expect(factsOf(jpeg(jpegSegment(0xe0, Buffer.from('JFIF\0')), frame))).toEqual({
      type: 'jpeg',
      contentType: 'image/jpeg',
      width: 600,
      height: 400,
      orientation: 1,
      animated: false,
      frames: 1,
      channels: 3,
      alpha: false,
      bitDepth: 8,
    })
    expect(factsOf(jpeg(jpegFrame({ ...size, components: 4, marker: 0xc2 })))).toMatchObject({ channels: 4 })
  })

  it('has the size that it is seen in, by its first EXIF block', () => {
    expect(factsOf(jpeg(jpegExif(6, false), jpegExif(1), frame))).toMatchObject({
      width: 400,
      height: 600,
      orientation: 6,
    })
    expect(factsOf(jpeg(frame, jpegExif(3)))).toMatchObject({ width: 600, height: 400, orientation: 3 })
    expect(factsOf(jpeg(jpegExif(9), frame))).toMatchObject({ width: 600, height: 400, orientation: 1 })
  })

  it('is accepted with bytes between its markers that every browser passes over', () => {
    const junk = Buffer.from('0011ff0022ffff', 'hex')
    const bytes = Buffer.concat([
      SOI,
      jpegSegment(0xe0),
      junk,
      frame,
      Buffer.from('ffd0ff01', 'hex'),
      jpegScan(),
    ])
    expect(factsOf(bytes)).toMatchObject(size)
  })

  it('is accepted without its end: what is missing only the decoder can tell', () => {
    expect(factsOf(Buffer.concat([SOI, frame, jpegScan()]))).toMatchObject(size)
  })

  it.each([
    [0xc3, /lossless/],
    [0xc5, /hierarchical/],
    [0xc9, /an arithmetic-coded JPEG \(SOF9\)/],
    [0xca, /arithmetic/],
    [0xf7, /JPEG-LS/],
  ])('of a process that nobody decodes is refused by its name: %i', (marker, name) => {
    const refusal = refusalOf(jpeg(jpegFrame({ ...size, marker })))
    expect(refusal).toMatchObject({ status: 415, code: 'unsupported_type' })
    expect(refusal.message).toMatch(name)
  })

  it('of 12 bits, or without its height, is refused by name', () => {
    expect(refusalOf(jpeg(jpegFrame({ ...size, precision: 12, marker: 0xc1 }))).message).toMatch(/12 bits/)
    expect(refusalOf(jpeg(jpegFrame({ width: 9, height: 0 }))).message).toMatch(/DNL/)
  })

  it('tells of a gain map, by XMP or by the mark of ISO 21496-1', () => {
    const xmp = 'http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"/>'
    const iso = 'urn:iso:std:iso:ts:21496:-1\0\0\0\0\0'
    expect(factsOf(jpeg(jpegSegment(0xe1, Buffer.from(xmp)), frame)).gainMap).toBe(true)
    expect(factsOf(jpeg(jpegSegment(0xe2, Buffer.from(iso)), frame)).gainMap).toBe(true)
    expect(factsOf(jpeg(jpegSegment(0xe2, Buffer.from('MPF\0')), frame)).gainMap).toBeUndefined()
  })

  it('over the limit is refused by limit and value', () => {
    expect(refusalOf(jpeg(jpegFrame({ width: 16_384, height: 16_384 })))).toEqual({
      ok: false,
      status: 422,
      code: 'too_many_pixels',
      fault: 'service',
      message: 'a JPEG of 16384 × 16384 is 268435456 pixels; the limit is 100000000',
    })
  })

  it.each([
    ['a scan before the frame header', jpeg()],
    ['two frame headers', jpeg(frame, frame)],
    ['an end before the frame header', Buffer.concat([SOI, Buffer.from('ffd9', 'hex')])],
    ['a start within', Buffer.concat([SOI, SOI, frame, jpegScan()])],
    ['a segment of no length', Buffer.concat([SOI, Buffer.from('ffe00000', 'hex'), frame])],
    ['a width of 0', jpeg(jpegFrame({ width: 0, height: 5 }))],
    ['seven components', jpeg(jpegFrame({ ...size, components: 7 }))],
    ['a reserved marker', Buffer.concat([SOI, Buffer.from('ff13', 'hex'), frame, jpegScan()])],
  ])('with %s is corrupt', (_, bytes) => {
    expect(refusalOf(bytes)).toMatchObject({ status: 422, code: 'corrupt' })
  })

  it('that ends before its scan is truncated, wherever it is cut', () => {
    const header = Buffer.concat([SOI, jpegExif(6), frame])
    for (let bytes = 3; bytes < header.length; bytes++) {
      expect(inspect(header.subarray(0, bytes))).toMatchObject({ ok: false, code: 'truncated' })
    }
  })
})
