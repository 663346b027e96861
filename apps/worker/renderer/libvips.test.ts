import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testImage } from '../../../test/images.ts'
import { prepareLibvips } from './libvips.ts'

describe('the decoder of a rendering process', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'img42-libvips-'))
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await rm(folder, { recursive: true })
  })

  it.each([
    'jpeg-orientation-1',
    'png-alpha',
    'webp-lossy',
    'gif-animated',
    'avif-plain',
    'tiff-lzw',
  ] as const)('reads %s', async (name) => {
    await prepareLibvips()
    expect(
      (
        await sharp((await testImage(name)).bytes)
          .raw()
          .toBuffer()
      ).length,
    ).toBeGreaterThan(0)
  })

  it('reads no SVG, and nothing by its path', async () => {
    const jpeg = path.join(folder, 'image.jpg')
    const vips = path.join(folder, 'image.v')
    const image = sharp((await testImage('jpeg-orientation-1')).bytes)
    await image.toFile(jpeg)
    await image.toFile(vips)
    await prepareLibvips()
    for (const input of [
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'),
      jpeg,
      vips,
    ]) {
      await expect(sharp(input).raw().toBuffer()).rejects.toThrow('unsupported image format')
    }
  })

  it('is not used when it reads what it is not to', async () => {
    sharp.unblock({ operation: ['VipsForeignLoad'] })
    vi.spyOn(sharp, 'block').mockImplementation(() => {})
    await expect(prepareLibvips()).rejects.toThrow('the decoder reads SVG, which it is not to')
  })

  it('works on one thread and keeps nothing', async () => {
    sharp.concurrency(2)
    sharp.cache(true)
    await prepareLibvips()
    expect(sharp.concurrency()).toBe(1)
    expect(sharp.cache()).toMatchObject({ memory: { max: 0 }, files: { max: 0 }, items: { max: 0 } })
  })
})
