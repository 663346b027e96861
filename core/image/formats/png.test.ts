import { describe, expect, it } from 'vitest'
import { exif } from '../../../test/images/bytes/exif.ts'
import { animationControl, blackPixels, frameControl, png, pngChunk } from '../../../test/images/bytes/png.ts'
import { factsOf, inspect, refusalOf } from '../../../test/images/inspect.ts'
import { DEFAULT_LIMITS } from '../../limits.ts'

const size = { width: 30, height: 20 }
const data = pngChunk('IDAT', blackPixels(size))
const end = pngChunk('IEND')

describe('a PNG', () => {
  it('tells its size, channels and bits in its header', () => {
    expect(factsOf(png(size))).toEqual({
      type: 'png',
      contentType: 'image/png',
      width: 30,
      height: 20,
      orientation: 1,
      animated: false,
      frames: 1,
      channels: 3,
      alpha: false,
      bitDepth: 8,
    })
    expect(factsOf(png({ ...size, colourType: 6, bitDepth: 16 }, data, end))).toMatchObject({
      channels: 4,
      alpha: true,
      bitDepth: 16,
    })
  })

  it('may be transparent by a colour or a palette, too', () => {
    const palette = [pngChunk('PLTE', Buffer.alloc(6)), pngChunk('tRNS', Buffer.alloc(1))]
    expect(factsOf(png({ ...size, colourType: 3, bitDepth: 1 }, ...palette, data, end))).toMatchObject({
      channels: 4,
      alpha: true,
      bitDepth: 1,
    })
    expect(factsOf(png({ ...size, colourType: 0 }, data, end))).toMatchObject({ channels: 1, alpha: false })
  })

  it('has the size that it is seen in, by an eXIf chunk before its data', () => {
    const oriented = pngChunk('eXIf', exif(6))
    expect(factsOf(png(size, oriented, data, end))).toMatchObject({ width: 20, height: 30, orientation: 6 })
    expect(factsOf(png(size, data, oriented, end))).toMatchObject({ width: 30, height: 20, orientation: 1 })
  })

  it('tells its colours by cICP', () => {
    const cicp = pngChunk('cICP', Buffer.from([9, 16, 0, 1]))
    expect(factsOf(png(size, cicp, data, end)).cicp).toEqual({ primaries: 9, transfer: 16 })
  })

  it('is animated by acTL, which stands before its data', () => {
    const animated = png(size, animationControl(5), frameControl(0, size), data, end)
    expect(factsOf(animated)).toMatchObject({ animated: true, frames: 5, animatedPixels: 3_000 })
    expect(factsOf(animated).defaultImageOutsideAnimation).toBeUndefined()
    expect(factsOf(png(size, data, animationControl(5), end))).toMatchObject({ animated: false, frames: 1 })
    expect(factsOf(png(size, animationControl(0), data, end))).toMatchObject({ animated: false, frames: 1 })
  })

  it('tells how long its animation takes, and how often', () => {
    const frame = (sequence: number, delayMs: number) => frameControl(sequence, size, delayMs)
    const frames = [frame(0, 100), data, frame(1, 250), frame(2, 0)]
    expect(factsOf(png(size, animationControl(3, 4), ...frames, end))).toMatchObject({
      // A delay of 0 is shown for 100 ms.
      durationMs: 450,
      loop: 4,
    })
  })

  it('says when its default image is no frame of the animation', () => {
    const animated = png(size, animationControl(2), data, frameControl(0, size), end)
    expect(factsOf(animated).defaultImageOutsideAnimation).toBe(true)
  })

  it('is refused over a limit: pixels, frames, pixels of all frames', () => {
    expect(refusalOf(png({ width: 65_536, height: 65_536 }, data))).toMatchObject({ code: 'too_many_pixels' })
    expect(refusalOf(png(size, animationControl(2_001), data, end))).toMatchObject({
      code: 'too_many_frames',
      message: 'the PNG has 2001 frames; the limit is 2000',
    })
    const limits = { ...DEFAULT_LIMITS, maxAnimatedPixels: 2_999 }
    expect(refusalOf(png(size, animationControl(5), data, end), limits)).toMatchObject({
      code: 'too_many_pixels',
      message: '5 frames of 30 × 20 are 3000 pixels in all; the limit is 2999',
    })
  })

  it('is truncated wherever it is cut, up to its last chunk’s head', () => {
    const whole = png(size)
    for (let bytes = 4; bytes < whole.length - 4; bytes++) {
      expect(inspect(whole.subarray(0, bytes))).toMatchObject({ ok: false, code: 'truncated' })
    }
  })

  it('is accepted with other bytes behind its end', () => {
    expect(factsOf(Buffer.concat([png(size), Buffer.from('PK')]))).toMatchObject(size)
  })

  const damaged = png(size)
  damaged[19] = 31
  const converted = Buffer.from(png(size).toString('latin1').replace('\r\n', '\n'), 'latin1')
  it.each([
    ['a damaged header', damaged],
    ['converted line ends', converted],
    ['a width of 0', png({ width: 0, height: 4 }, data, end)],
    ['a bit depth that its colours do not have', png({ ...size, bitDepth: 4 }, data, end)],
    ['a colour type that does not exist', png({ ...size, colourType: 5 }, data, end)],
    ['an unknown interlacing', png({ ...size, interlace: 2 }, data, end)],
    ['a side beyond 31 bits', png({ width: 2 ** 31, height: 1 }, data, end)],
    ['no image data', png(size, end)],
    ['no palette where it needs one', png({ ...size, colourType: 3 }, data, end)],
    ['another chunk first', Buffer.concat([png(size).subarray(0, 8), data, end])],
    ['garbage for a chunk', png(size, Buffer.alloc(12, 0xee), end)],
  ])('with %s is corrupt', (_, bytes) => {
    expect(refusalOf(bytes)).toMatchObject({ status: 422, code: 'corrupt' })
  })

  it('in the private form of iOS apps is refused by its name', () => {
    const bytes = Buffer.concat([
      png(size).subarray(0, 8),
      pngChunk('CgBI', Buffer.alloc(4)),
      png(size).subarray(8),
    ])
    expect(refusalOf(bytes)).toMatchObject({ status: 415, message: expect.stringContaining('CgBI') })
  })

  it('of more chunks than any image needs is refused', () => {
    const comments = Buffer.concat(Array.from({ length: 1_000 }, () => pngChunk('tEXt')))
    const bytes = png(size, ...Array.from({ length: 100 }, () => comments), data, end)
    expect(refusalOf(bytes)).toMatchObject({ code: 'corrupt', message: expect.stringContaining('parts') })
  })
})
