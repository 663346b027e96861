import { beforeAll, describe, expect, it } from 'vitest'
import { png, pngHeader } from '../../test/images/bytes/png.ts'
import { inspect } from '../../test/images/inspect.ts'
import { type TestImage, testImages } from '../../test/images.ts'
import { seededRandom } from '../../test/simulation/seeded-random.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import { createInspector, HEAD_BYTES } from './inspector.ts'

const CODES = ['empty_body', 'unsupported_type', 'corrupt', 'truncated', 'too_many_pixels', 'too_many_frames']

let images: TestImage[]

beforeAll(async () => {
  images = await testImages()
})

describe('the inspector', () => {
  it('refuses as soon as the header says so, before the rest of the body has come', () => {
    const inspector = createInspector(DEFAULT_LIMITS)
    const refusal = inspector.push(png({ width: 30_000, height: 30_000 }, Buffer.alloc(HEAD_BYTES)))
    expect(refusal).toMatchObject({ code: 'too_many_pixels' })
    expect(inspector.push(Buffer.from('more'))).toBe(refusal)
    expect(inspector.end()).toBe(refusal)
  })

  it('waits with its verdict for what it needs', () => {
    const inspector = createInspector(DEFAULT_LIMITS)
    const whole = png({ width: 30, height: 20 })
    expect(inspector.push(whole.subarray(0, 20))).toBeNull()
    expect(inspector.push(whole.subarray(20))).toBeNull()
    expect(inspector.end()).toMatchObject({ ok: true, facts: { width: 30, height: 20 } })
  })

  it('keeps nothing of a chunk that its caller fills again', () => {
    const whole = Buffer.concat([png({ width: 30, height: 20 })])
    const inspector = createInspector(DEFAULT_LIMITS)
    const chunk = Buffer.alloc(7)
    for (let at = 0; at < whole.length; at += chunk.length) {
      const length = whole.copy(chunk, 0, at)
      inspector.push(chunk.subarray(0, length))
      chunk.fill(0xee)
    }
    expect(inspector.end()).toMatchObject({ ok: true })
  })

  it('follows the limits that it was given', () => {
    const limits = { ...DEFAULT_LIMITS, maxPixels: 599 }
    const bytes = png({ width: 30, height: 20 })
    expect(inspect(bytes, limits)).toMatchObject({
      ok: false,
      message: expect.stringContaining('the limit is 599'),
    })
    expect(inspect(bytes, { ...limits, maxPixels: 600 })).toMatchObject({ ok: true })
  })

  it('gives the same verdict however the bytes are cut', () => {
    for (const { name, bytes } of images) {
      const verdict = inspect(bytes)
      const short = bytes.subarray(0, 20_000)
      expect(inspect(short, DEFAULT_LIMITS, 1), name).toEqual(inspect(short))
      for (const pieceBytes of [3, 511, 512, 513, 4_096]) {
        expect(inspect(bytes, DEFAULT_LIMITS, pieceBytes), `${name} by ${pieceBytes}`).toEqual(verdict)
      }
      const random = seededRandom(name)
      const inspector = createInspector(DEFAULT_LIMITS)
      for (let at = 0; at < bytes.length; ) {
        const length = random.int(0, random.chance(0.1) ? 20_000 : 200)
        inspector.push(bytes.subarray(at, at + length))
        at += length
      }
      expect(inspector.end(), `${name} in random pieces`).toEqual(verdict)
    }
  })

  it('comes to a verdict of the known codes on any damage, without an exception', () => {
    let refused = 0
    for (const { name, bytes } of images) {
      const random = seededRandom(`damage ${name}`)
      for (let round = 0; round < 30; round++) {
        // Damage to the head is what parsers see; most of the rest is skipped.
        const damaged = Buffer.from(
          bytes.subarray(0, random.chance(0.3) ? random.int(0, bytes.length) : 30_000),
        )
        const reach = Math.min(damaged.length, random.pick([64, 600, 30_000]))
        for (let hits = random.int(0, 12); hits > 0 && reach > 0; hits--) {
          const at = random.int(0, reach - 1)
          const value = random.pick([0, 0xff, 0x80, 0x7f, 1, random.int(0, 255)])
          damaged.fill(value, at, Math.min(damaged.length, at + random.pick([1, 1, 2, 4, 8])))
        }
        const verdict = inspect(damaged, DEFAULT_LIMITS, random.pick([damaged.length || 1, 100, 1_000]))
        if (verdict.ok) {
          const { width, height } = verdict.facts
          expect(width * height).toBeGreaterThan(0)
          expect(width * height).toBeLessThanOrEqual(DEFAULT_LIMITS.maxPixels)
        } else {
          refused++
          expect(CODES).toContain(verdict.code)
          expect(verdict.message).not.toMatch(/undefined|NaN|\n/)
        }
      }
    }
    expect(refused).toBeGreaterThan(images.length * 6)
  })

  it('holds its limits against a header that lies', () => {
    const header = pngHeader({ width: 9, height: 9 })
    const bytes = Buffer.concat([png({ width: 9, height: 9 }).subarray(0, 8), header, header])
    expect(inspect(bytes)).toMatchObject({ ok: false })
  })
})
