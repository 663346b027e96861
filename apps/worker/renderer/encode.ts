import sharp, { type Sharp } from 'sharp'
import type { OutputFormat } from '../../../core/preset.ts'
import { inHundredths } from './animation.ts'
import type { Canvas } from './draw.ts'

export interface EncodeOptions {
  /** 1–100; null: the format's default. PNG and GIF have none. */
  quality: number | null
  /** `#rrggbb` or `#rrggbbaa`: behind what is transparent in a JPEG. */
  background: string
  /** Of an animation: one delay a frame, and how often it plays, 0 for ever. */
  timing: { delaysMs: number[]; loop: number } | null
  /** To be written into the file; GIF has no place for it. */
  rights: Rights
}

/** A notice of the original's that goes along. */
export interface Rights {
  copyright?: string
  artist?: string
}

/**
 * The file. Without a colour profile, because the pixels are sRGB, which is what every reader takes an untagged file
 * for; and with nothing about the image but {@link EncodeOptions.rights}. The same bytes on every run.
 *
 * @param transparent whether the canvas is so anywhere: an alpha channel that is opaque all over is left out
 */
export function encode(
  canvas: Canvas,
  transparent: boolean,
  format: OutputFormat,
  { quality, background, timing, rights }: EncodeOptions,
): Promise<Buffer> {
  const image = open(canvas)
  if (format === 'jpeg' && transparent) image.flatten({ background: overWhite(background) })
  else if (!transparent) image.removeAlpha()
  writeRights(image, rights)
  const { delaysMs = [], loop = 0 } = timing ?? {}
  switch (format) {
    case 'jpeg':
      // Not mozjpeg: 15 % fewer bytes for four times the time of encoding.
      image.jpeg({ quality: quality ?? 80 })
      break
    case 'webp':
      image.webp({ quality: quality ?? 80, ...(timing && { delay: delaysMs, loop }) })
      break
    case 'avif':
      // Effort 4, the default, takes eight times as long for a few per cent.
      image.avif({ quality: quality ?? 50, effort: 2, chromaSubsampling: '4:2:0' })
      break
    case 'png':
      image.png()
      break
    case 'gif':
      // Above 3 the encoder takes twice as long a frame, for no fewer bytes.
      image.gif({ effort: 3, ...(timing && { delay: inHundredths(delaysMs), loop }) })
  }
  return image.toBuffer()
}

function open({ data, width, height, channels, frames }: Canvas): Sharp {
  const raw = { width, height: height * frames, channels }
  return sharp(data, { raw: frames > 1 ? { ...raw, pageHeight: height } : raw })
}

/** libvips takes what stands in the last parentheses for its own remark, and leaves it out. */
function writeRights(image: Sharp, { copyright, artist }: Rights): void {
  const fields = {
    ...(copyright && { Copyright: `${copyright} ()` }),
    ...(artist && { Artist: `${artist} ()` }),
  }
  if (Object.keys(fields).length > 0) image.withExif({ IFD0: fields })
}

/** A background that is transparent itself lies on white: what cannot be seen is black in most files. */
function overWhite(background: string): string {
  const [red, green, blue, alpha = 255] = (background.slice(1).match(/../g) ?? []).map((pair) =>
    Number.parseInt(pair, 16),
  )
  const mixed = [red, green, blue].map((value) => Math.round(255 + ((value! - 255) * alpha) / 255))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
