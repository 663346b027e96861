import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testImage } from '../../../test/images.ts'
import { prepareLibvips } from './libvips.ts'
import { REFUSED_FILES } from './sandbox/refused-files.ts'

describe('the decoder of a rendering process', () => {
  let folder: string
  beforeEach(async () => {
    vi.stubEnv('UV_THREADPOOL_SIZE', '1')
    folder = await mkdtemp(path.join(tmpdir(), 'img42-libvips-'))
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await rm(folder, { recursive: true })
  })

  const decode = (input: Buffer | string) => sharp(input).raw().toBuffer()

  it.each([
    'jpeg-orientation-1',
    'png-alpha',
    'webp-lossy',
    'gif-animated',
    'avif-plain',
    'tiff-lzw',
  ] as const)('reads %s', async (name) => {
    await prepareLibvips()
    expect((await decode((await testImage(name)).bytes)).length).toBeGreaterThan(0)
  })

  it('reads none of the other types, from memory or by path, nor a wanted one by its path', async () => {
    await prepareLibvips()
    const jpeg = (await testImage('jpeg-orientation-1')).bytes
    for (const [type, bytes] of Object.entries({ ...REFUSED_FILES, jpeg })) {
      const file = path.join(folder, 'image')
      await writeFile(file, bytes)
      await expect(decode(file), `${type} by path`).rejects.toThrow()
      if (type !== 'jpeg') await expect(decode(bytes), type).rejects.toThrow()
    }
  })

  it('is tried with files that a decoder which is allowed everything does read', async () => {
    sharp.unblock({ operation: ['VipsForeignLoad'] })
    const readable: string[] = []
    for (const [type, bytes] of Object.entries(REFUSED_FILES)) {
      const file = path.join(folder, 'image')
      await writeFile(file, bytes)
      const read = await Promise.allSettled([decode(bytes), decode(file)])
      if (read.some(({ status }) => status === 'fulfilled')) readable.push(type)
    }
    // Of the others this build of libvips has no loader, or it has one that needs a suffix.
    expect(readable).toEqual(['SVG', 'VIPS'])
  })

  it('is not used when it reads what it is not to', async () => {
    sharp.unblock({ operation: ['VipsForeignLoad'] })
    vi.spyOn(sharp, 'block').mockImplementation(() => {})
    await expect(prepareLibvips()).rejects.toThrow('the decoder reads SVG, which it is not to')
  })

  it('is not used when it does not read what it is to', async () => {
    vi.spyOn(sharp, 'unblock').mockImplementation(() => {})
    await expect(prepareLibvips()).rejects.toThrow('the decoder does not read JPEG, which it is to')
  })

  it('is not used when more threads would wait for it', async () => {
    vi.stubEnv('UV_THREADPOOL_SIZE', '4')
    await expect(prepareLibvips()).rejects.toThrow(
      'the decoder is to have one thread, and UV_THREADPOOL_SIZE is 4',
    )
  })

  it('works on one thread and keeps nothing', async () => {
    sharp.concurrency(2)
    sharp.cache(true)
    await prepareLibvips()
    expect(sharp.concurrency()).toBe(1)
    expect(sharp.cache()).toMatchObject({ memory: { max: 0 }, files: { max: 0 }, items: { max: 0 } })
  })
})
