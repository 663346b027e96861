export const GIF_TRAILER = Buffer.from([0x3b])

/** The header, without a colour table of the whole file. */
export function gifHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.write('GIF89a', 'latin1')
  header.writeUInt16LE(width, 6)
  header.writeUInt16LE(height, 8)
  return header
}

/** A frame of one colour table of two colours, its data in sub-blocks of the given lengths. */
export function gifFrame(width: number, height: number, blocks: number[] = [4]): Buffer {
  const descriptor = Buffer.alloc(10)
  descriptor[0] = 0x2c
  descriptor.writeUInt16LE(width, 5)
  descriptor.writeUInt16LE(height, 7)
  descriptor[9] = 0x80
  const colours = Buffer.from('000000ffffff', 'hex')
  const data = blocks.map((length) => Buffer.concat([Buffer.from([length]), Buffer.alloc(length, 0x2c)]))
  return Buffer.concat([descriptor, colours, Buffer.from([2]), ...data, Buffer.from([0])])
}

export function gifGraphicControl({ transparent = false } = {}): Buffer {
  return Buffer.from([0x21, 0xf9, 4, transparent ? 1 : 0, 10, 0, 0, 0])
}

export function gifComment(text: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x21, 0xfe, text.length]),
    Buffer.from(text, 'latin1'),
    Buffer.from([0]),
  ])
}

export function gif(width: number, height: number, ...blocks: Buffer[]): Buffer {
  return Buffer.concat([gifHeader(width, height), ...blocks, GIF_TRAILER])
}
