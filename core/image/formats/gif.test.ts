import { describe, expect, it } from 'vitest'
import {
  GIF_TRAILER,
  gif,
  gifComment,
  gifFrame,
  gifGraphicControl,
  gifHeader,
} from '../../../test/images/bytes/gif.ts'
import { factsOf, inspect, refusalOf } from '../../../test/images/inspect.ts'
import { DEFAULT_LIMITS } from '../../limits.ts'

describe('a GIF', () => {
  it('whose frames have codes longer than there are is refused as corrupt', () => {
    const frame = gifFrame(30, 20)
    frame[10 + 6] = 12
    expect(refusalOf(gif(30, 20, frame))).toMatchObject({ code: 'corrupt', fault: 'file' })
  })

  it('has the size of its screen, not of its frames', () => {
    expect(factsOf(gif(3_000, 50, gifFrame(1, 1)))).toEqual({
      type: 'gif',
      contentType: 'image/gif',
      width: 3_000,
      height: 50,
      orientation: 1,
      animated: false,
      frames: 1,
      channels: 3,
      alpha: false,
      bitDepth: 8,
    })
  })

  it('has a screen that holds its first frame, as browsers make it', () => {
    expect(factsOf(gif(0, 0, gifFrame(7, 5)))).toMatchObject({ width: 7, height: 5 })
    expect(factsOf(gif(20, 2, gifFrame(7, 5)))).toMatchObject({ width: 20, height: 5 })
  })

  it('counts its frames over comments, controls and data of any length', () => {
    const blocks = [
      gifComment('not, a; frame!'),
      gifGraphicControl({ transparent: true }),
      gifFrame(9, 9, [255, 255, 3]),
      gifGraphicControl({ transparent: true }),
      gifFrame(9, 9, []),
      gifGraphicControl(),
      gifFrame(2, 2),
    ]
    expect(factsOf(gif(9, 9, ...blocks))).toMatchObject({
      animated: true,
      frames: 3,
      animatedPixels: 243,
      alpha: true,
      channels: 4,
    })
  })

  it('is refused as soon as it is over a limit, whatever follows', () => {
    const frames = (count: number) => Buffer.concat(Array.from({ length: count }, () => gifFrame(1, 1)))
    const limits = { ...DEFAULT_LIMITS, maxFrames: 10 }
    expect(refusalOf(Buffer.concat([gifHeader(1, 1), frames(11), Buffer.from('anything')]), limits)).toEqual({
      ok: false,
      status: 422,
      code: 'too_many_frames',
      fault: 'service',
      message: 'the GIF has at least 11 frames; the limit is 10',
    })
    expect(factsOf(gif(1, 1, frames(10)), limits)).toMatchObject({ frames: 10 })
    expect(refusalOf(gif(65_535, 65_535, gifFrame(1, 1)))).toMatchObject({ code: 'too_many_pixels' })
    expect(refusalOf(gif(1, 1, gifFrame(1, 1), gifFrame(65_535, 65_535)))).toMatchObject({
      code: 'too_many_pixels',
    })
    expect(refusalOf(gif(10_000, 10_000, frames(6)))).toMatchObject({
      code: 'too_many_pixels',
      message: '6 frames of 10000 × 10000 are 600000000 pixels in all; the limit is 500000000',
    })
  })

  it('is truncated wherever it is cut, between two frames too', () => {
    const whole = gif(9, 9, gifGraphicControl(), gifFrame(9, 9, [200, 200]), gifFrame(9, 9))
    for (let bytes = 6; bytes < whole.length; bytes++) {
      expect(inspect(whole.subarray(0, bytes))).toMatchObject({ ok: false, code: 'truncated' })
    }
  })

  it('ends for browsers where no block begins, once there is a frame', () => {
    const bytes = Buffer.concat([gifHeader(9, 9), gifFrame(9, 9), Buffer.from([0x00, 0xff, 0x2c])])
    expect(factsOf(bytes)).toMatchObject({ frames: 1 })
  })

  it.each([
    ['no frame', gif(9, 9, gifComment('empty'))],
    ['no block where the first should be', Buffer.concat([gifHeader(9, 9), Buffer.from([7]), GIF_TRAILER])],
    ['a frame without area', gif(9, 9, gifFrame(0, 9))],
  ])('with %s is corrupt', (_, bytes) => {
    expect(refusalOf(bytes)).toMatchObject({ status: 422, code: 'corrupt' })
  })
})
