import sharp, { type Sharp } from 'sharp'
import { RENDER_REVISION } from './render.ts'
import { REFUSED_FILES } from './sandbox/refused-files.ts'

/**
 * Sets up the decoder of this process: only what is wanted can be loaded, from memory only, on one thread (the bytes of
 * an AVIF output would depend on their number), with nothing kept from one image to the next. Proves it by a file of
 * each type, which warms up what the first job would wait for otherwise.
 *
 * @returns the engine's name: everything but the input and the preset that an output's bytes depend on
 * @throws an error whose message is a sentence, when the decoder reads what it is not to, does not read what it is to,
 *   or has other threads
 */
export async function prepareLibvips(): Promise<string> {
  sharp.concurrency(1)
  sharp.cache(false)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: LOADERS })
  assertThreads()
  for (const [type, bytes] of Object.entries(REFUSED_FILES)) {
    if (await decodes(bytes)) throw new Error(`the decoder reads ${type}, which it is not to`)
  }
  for (const [type, encoded] of Object.entries(wanted())) {
    const bytes = await encoded.toBuffer()
    if (!(await decodes(bytes))) throw new Error(`the decoder does not read ${type}, which it is to`)
  }
  const { sharp: own, vips } = sharp.versions
  return `sharp-${own}_vips-${vips}_${process.arch}_r${RENDER_REVISION}`
}

/** One of libvips, and one of Node to wait for it: a process renders one image at a time. */
function assertThreads(): void {
  const threads = { libvips: sharp.concurrency(), UV_THREADPOOL_SIZE: Number(process.env.UV_THREADPOOL_SIZE) }
  for (const [what, count] of Object.entries(threads)) {
    if (count !== 1) throw new Error(`the decoder is to have one thread, and ${what} is ${count}`)
  }
}

function decodes(bytes: Buffer): Promise<boolean> {
  return sharp(bytes)
    .resize(4, 4)
    .raw()
    .toBuffer()
    .then(
      () => true,
      () => false,
    )
}

function wanted(): Record<string, Sharp> {
  const image = () => sharp({ create: { width: 8, height: 8, channels: 3, background: '#888' } })
  return {
    JPEG: image().jpeg(),
    PNG: image().png(),
    WebP: image().webp(),
    GIF: image().gif(),
    TIFF: image().tiff(),
    AVIF: image().avif({ effort: 0 }),
  }
}

const LOADERS = [
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
  'VipsForeignLoadHeifBuffer',
  'VipsForeignLoadTiffBuffer',
]
