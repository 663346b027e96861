import sharp from 'sharp'
import { pngChunk, withChunks } from '../../../../test/images/bytes/png.ts'

/** A PNG of one colour, 0 to 1 a channel, its samples of 16 bits tagged by ITU-T H.273's code points. */
export async function taggedPng(
  colour: readonly [red: number, green: number, blue: number],
  { primaries, transfer }: { primaries: number; transfer: number },
): Promise<Buffer> {
  const side = 16
  const pixel = colour.map((value) => Math.round(value * 65_535))
  const samples = Uint16Array.from({ length: side * side * 3 }, (_, i) => pixel[i % 3]!)
  const still = await sharp(samples, { raw: { width: side, height: side, channels: 3 } })
    .toColourspace('rgb16')
    .png()
    .toBuffer()
  return withChunk(still, 'cICP', Buffer.from([primaries, transfer, 0, 1]))
}

/** The PNG with one more chunk, behind its header. */
export function withChunk(png: Buffer, type: string, data: Buffer): Buffer {
  return withChunks(png, pngChunk(type, data))
}
