import { describe, expect, it } from 'vitest'
import { exif } from '../../../test/images/bytes/exif.ts'
import {
  webp,
  webpChunk,
  webpFrame,
  webpHeader,
  webpLossless,
  webpLossy,
} from '../../../test/images/bytes/webp.ts'
import { factsOf, inspect, refusalOf } from '../../../test/images/inspect.ts'
import { DEFAULT_LIMITS } from '../../limits.ts'

const animation = webpChunk('ANIM', Buffer.alloc(6))

describe('a WebP', () => {
  it('tells its size in its bitstream, lossy or lossless', () => {
    expect(factsOf(webp(webpLossy(600, 400)))).toEqual({
      type: 'webp',
      contentType: 'image/webp',
      width: 600,
      height: 400,
      orientation: 1,
      animated: false,
      frames: 1,
      channels: 3,
      alpha: false,
      bitDepth: 8,
    })
    expect(factsOf(webp(webpLossless(16_383, 3, true)))).toMatchObject({
      width: 16_383,
      height: 3,
      alpha: true,
    })
  })

  it('tells transparency in its extended header, and orientation behind its data', () => {
    const bytes = webp(webpHeader(60, 40, { alpha: true }), webpLossless(60, 40), webpChunk('EXIF', exif(6)))
    expect(factsOf(bytes)).toMatchObject({ width: 40, height: 60, orientation: 6, alpha: true, channels: 4 })
  })

  it('counts its frames', () => {
    const frames = Array.from({ length: 7 }, () => webpFrame(10, 10))
    expect(factsOf(webp(webpHeader(60, 40, { animated: true }), animation, ...frames))).toMatchObject({
      width: 60,
      height: 40,
      animated: true,
      frames: 7,
      animatedPixels: 16_800,
    })
  })

  it('is refused over a limit: pixels, also of what its header hides, and frames', () => {
    expect(refusalOf(webp(webpLossless(16_383, 16_383)))).toMatchObject({ code: 'too_many_pixels' })
    expect(refusalOf(webp(webpHeader(16_384, 16_384)))).toMatchObject({ code: 'too_many_pixels' })
    expect(refusalOf(webp(webpHeader(9, 9), webpLossy(16_383, 16_383)))).toMatchObject({
      code: 'too_many_pixels',
    })
    const limits = { ...DEFAULT_LIMITS, maxFrames: 3, maxAnimatedPixels: 4_799 }
    const frames = (count: number) => [
      webpHeader(60, 40, { animated: true }),
      ...Array.from({ length: count }, () => webpFrame(1, 1)),
    ]
    expect(refusalOf(webp(...frames(2)), limits)).toMatchObject({ code: 'too_many_pixels' })
    expect(refusalOf(webp(...frames(4)), { ...limits, maxAnimatedPixels: 99_999 })).toMatchObject({
      code: 'too_many_frames',
      message: 'the WebP has at least 4 frames; the limit is 3',
    })
  })

  it('is truncated wherever it is cut', () => {
    const whole = webp(webpHeader(60, 40), webpLossy(60, 40), webpChunk('EXIF', exif(1)))
    for (let bytes = 12; bytes < whole.length; bytes++) {
      expect(inspect(whole.subarray(0, bytes))).toMatchObject({ ok: false, code: 'truncated' })
    }
  })

  it('is accepted without the padding of its last chunk, and with bytes behind its end', () => {
    const odd = webp(webpLossless(5, 5)).subarray(0, -1)
    odd.writeUInt32LE(odd.length - 8, 4)
    expect(factsOf(odd)).toMatchObject({ width: 5 })
    expect(factsOf(Buffer.concat([webp(webpLossy(5, 5)), Buffer.alloc(99, 1)]))).toMatchObject({ width: 5 })
  })

  const inter = webpLossy(9, 9)
  inter[8] = 0x11
  const overlong = webp(webpLossy(9, 9))
  overlong.writeUInt32LE(500, 16)
  it.each([
    ['no image', webp(webpHeader(9, 9))],
    ['no chunks', webp()],
    ['a size of 0', webp(webpLossy(0, 9))],
    ['no key frame', webp(inter)],
    ['a bitstream of another kind', webp(webpChunk('VP8L', Buffer.alloc(20)))],
    ['frames that its header denies', webp(webpHeader(9, 9), webpFrame(9, 9))],
    ['a chunk that runs past its end', overlong],
    ['a bitstream too short', webp(webpChunk('VP8 ', Buffer.alloc(4)))],
  ])('with %s is corrupt', (_, bytes) => {
    expect(refusalOf(bytes)).toMatchObject({ status: 422, code: 'corrupt' })
  })
})
