export function webpChunk(type: string, data: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(type, 'latin1'), length, data, Buffer.alloc(data.length % 2)])
}

export function webp(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(body.length)
  return Buffer.concat([Buffer.from('RIFF'), length, body])
}

/** The extended header. */
export function webpHeader(
  width: number,
  height: number,
  flags: { animated?: boolean; alpha?: boolean } = {},
): Buffer {
  const data = Buffer.alloc(10)
  data[0] = (flags.animated ? 0x02 : 0) | (flags.alpha ? 0x10 : 0)
  data.writeUIntLE(width - 1, 4, 3)
  data.writeUIntLE(height - 1, 7, 3)
  return webpChunk('VP8X', data)
}

/** The beginning of a lossy bitstream, and nothing behind it. */
export function webpLossy(width: number, height: number): Buffer {
  const data = Buffer.alloc(20)
  data.set([0x10, 0, 0, 0x9d, 0x01, 0x2a])
  data.writeUInt16LE(width, 6)
  data.writeUInt16LE(height, 8)
  return webpChunk('VP8 ', data)
}

/** The beginning of a lossless bitstream, and nothing behind it. */
export function webpLossless(width: number, height: number, alpha = false): Buffer {
  const data = Buffer.alloc(17)
  data[0] = 0x2f
  data.writeUInt32LE(((width - 1) | ((height - 1) << 14) | ((alpha ? 1 : 0) << 28)) >>> 0, 1)
  return webpChunk('VP8L', data)
}

export function webpFrame(width: number, height: number): Buffer {
  const head = Buffer.alloc(16)
  head.writeUIntLE(width - 1, 6, 3)
  head.writeUIntLE(height - 1, 9, 3)
  return webpChunk('ANMF', Buffer.concat([head, webpLossy(width, height)]))
}
