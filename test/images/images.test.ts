import { beforeAll, describe, expect, it } from 'vitest'
import { type TestImage, testImages } from '../images.ts'
import { GOOD_IMAGES } from './good-images.ts'
import { inspect } from './inspect.ts'

let images: TestImage[]

beforeAll(async () => {
  images = await testImages()
})

describe('the project’s own images', () => {
  it('are told apart while they are uploaded as each of them expects', () => {
    for (const { name, bytes, expect: expected } of images) {
      const verdict = inspect(bytes)
      if (expected.outcome === 'refused') {
        const { status, code } = expected
        expect(verdict, name).toMatchObject({ ok: false, status, code })
      } else {
        const { type } = expected
        expect(verdict, name).toMatchObject({ ok: true, facts: { type } })
      }
      if (expected.outcome === 'thumbnail') {
        const { width, height, frames, alpha } = expected
        expect(verdict, name).toMatchObject({ facts: { width, height, frames, alpha } })
      }
    }
  })

  it('are the same bytes each time that they are made', async () => {
    for (const make of [
      GOOD_IMAGES['jpeg-gps'],
      GOOD_IMAGES['png-animated'],
      GOOD_IMAGES['gif-animated'],
      GOOD_IMAGES['webp-animated'],
      GOOD_IMAGES['avif-rotated'],
      GOOD_IMAGES['tiff-big'],
    ]) {
      const [once, again] = [await make(), await make()]
      expect(again.bytes.equals(once.bytes)).toBe(true)
    }
  })
})
