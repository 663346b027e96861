import { crc32, deflateSync } from 'node:zlib'

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

export function pngChunk(type: string, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))])
}

export interface PngHeader {
  width: number
  height: number
  bitDepth?: number
  /** 0 grey, 2 colours, 3 palette, 4 grey with alpha, 6 colours with alpha. Defaults to 2. */
  colourType?: number
  interlace?: number
}

export function pngHeader({ width, height, bitDepth = 8, colourType = 2, interlace = 0 }: PngHeader): Buffer {
  return pngChunk(
    'IHDR',
    Buffer.concat([uint32(width), uint32(height), Buffer.from([bitDepth, colourType, 0, 0, interlace])]),
  )
}

/** A PNG of the given header and chunks; without chunks a black image of 8 bits and three colours, complete. */
export function png(header: PngHeader, ...chunks: Buffer[]): Buffer {
  const body = chunks.length > 0 ? chunks : [pngChunk('IDAT', blackPixels(header)), pngChunk('IEND')]
  return Buffer.concat([PNG_SIGNATURE, pngHeader(header), ...body])
}

/** Compressed image data of 8 bits and three colours. */
export function blackPixels({ width, height }: PngHeader): Buffer {
  return deflateSync(Buffer.alloc(height * (1 + 3 * width)))
}

/** What an animated PNG declares: its frames, and how often they are shown. */
export function animationControl(frames: number, plays = 0): Buffer {
  return pngChunk('acTL', Buffer.concat([uint32(frames), uint32(plays)]))
}

export function frameControl(sequence: number, { width, height }: PngHeader, delayMs = 100): Buffer {
  const delay = Buffer.alloc(6)
  delay.writeUInt16BE(delayMs, 0)
  delay.writeUInt16BE(1_000, 2)
  return pngChunk(
    'fcTL',
    Buffer.concat([uint32(sequence), uint32(width), uint32(height), uint32(0), uint32(0), delay]),
  )
}

/** A frame's image data behind the first frame. */
export function frameData(sequence: number, data: Uint8Array): Buffer {
  return pngChunk('fdAT', Buffer.concat([uint32(sequence), data]))
}

/** The PNG with more chunks, behind its header. */
export function withChunks(file: Uint8Array, ...more: Buffer[]): Buffer {
  const [header, ...others] = chunksOf(file).map(({ type, data }) => pngChunk(type, data))
  return Buffer.concat([PNG_SIGNATURE, header!, ...more, ...others])
}

/** The chunks of a PNG, in its order. */
export function chunksOf(file: Uint8Array): { type: string; data: Buffer }[] {
  const bytes = Buffer.from(file)
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = PNG_SIGNATURE.length; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const data = bytes.subarray(at + 8, at + 8 + length)
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data })
    at += 12 + length
  }
  return chunks
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
