import sharp from 'sharp'
import { THUMBNAIL_REVISION } from './thumbnail.ts'

/**
 * Sets up the decoder of this process: only what is wanted can be loaded, from memory only, on one thread (the bytes of
 * an AVIF output would depend on their number), with nothing kept from one image to the next. Proves it, and warms up.
 *
 * @returns the engine's name: everything but the input and the preset that an output's bytes depend on
 */
export async function prepareLibvips(): Promise<string> {
  sharp.concurrency(1)
  sharp.cache(false)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: LOADERS })
  await assertRefused('SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'))
  await warmUp()
  const { sharp: own, vips } = sharp.versions
  return `sharp-${own}_vips-${vips}_${process.arch}_r${THUMBNAIL_REVISION}`
}

/** A newer libvips may bring loaders whose names are not below the one that is blocked. */
async function assertRefused(type: string, bytes: Buffer): Promise<void> {
  const decoded = await sharp(bytes)
    .raw()
    .toBuffer()
    .then(
      () => true,
      () => false,
    )
  if (decoded) throw new Error(`the decoder reads ${type}, which it is not to`)
}

/** What is loaded and compiled at the first use is not to be the first job's time. */
async function warmUp(): Promise<void> {
  const pixel = sharp({ create: { width: 8, height: 8, channels: 3, background: '#888' } })
  const jpeg = await pixel.jpeg().toBuffer()
  await sharp(jpeg).resize(4, 4).jpeg().toBuffer()
}

const LOADERS = [
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
  'VipsForeignLoadHeifBuffer',
  'VipsForeignLoadTiffBuffer',
]
