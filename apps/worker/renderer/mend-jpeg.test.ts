import { describe, expect, it } from 'vitest'
import { EOI, jpegFrame, jpegSegment, SOI } from '../../../test/images/bytes/jpeg.ts'
import { mendJpeg } from './mend-jpeg.ts'

/** Stuffed bytes, fillings and restart markers are data of the scan. */
const SCAN = Buffer.concat([
  jpegSegment(0xda, Buffer.from('0100003f00', 'hex')),
  Buffer.from('12ff0034ffd0ffffd156', 'hex'),
])
const FRAME = jpegFrame({ width: 8, height: 8 })
const WHOLE = Buffer.concat([SOI, FRAME, SCAN, jpegSegment(0xc4, Buffer.from([1])), SCAN, EOI])

describe('mending a JPEG', () => {
  it('leaves one as it is that needs none', () => {
    expect(mendJpeg(WHOLE)).toEqual({ mended: WHOLE, endMissing: false })
  })

  it('leaves out what stands between the segments', () => {
    const junk = Buffer.from('0102ff00ffffd8ff01', 'hex')
    const quirky = Buffer.concat([SOI, junk, FRAME, junk, WHOLE.subarray(SOI.length + FRAME.length)])
    expect(mendJpeg(quirky)).toEqual({ mended: WHOLE, endMissing: false })
  })

  it('leaves out what follows the end marker', () => {
    const longer = Buffer.concat([WHOLE, Buffer.from('PK secret')])
    expect(mendJpeg(longer)).toEqual({ mended: WHOLE, endMissing: false })
  })

  it('adds an end marker that is missing, and says so', () => {
    expect(mendJpeg(WHOLE.subarray(0, -EOI.length))).toEqual({ mended: WHOLE, endMissing: true })
  })

  it('ends wherever the file ends', () => {
    for (let length = 2; length < WHOLE.length; length++) {
      const { mended, endMissing } = mendJpeg(WHOLE.subarray(0, length))
      expect(endMissing).toBe(true)
      expect(mended.subarray(-2)).toEqual(EOI)
    }
  })
})
