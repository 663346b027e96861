import { exif } from './exif.ts'

export const SOI = Buffer.from('ffd8', 'hex')
export const EOI = Buffer.from('ffd9', 'hex')

export function jpegSegment(marker: number, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(data.length + 2)
  return Buffer.concat([Buffer.from([0xff, marker]), length, data])
}

export interface JpegFrame {
  width: number
  height: number
  /** The marker's code: C0 baseline, C2 progressive. Defaults to C0. */
  marker?: number
  precision?: number
  components?: number
}

export function jpegFrame({
  width,
  height,
  marker = 0xc0,
  precision = 8,
  components = 3,
}: JpegFrame): Buffer {
  const data = Buffer.alloc(6 + 3 * components)
  data[0] = precision
  data.writeUInt16BE(height, 1)
  data.writeUInt16BE(width, 3)
  data[5] = components
  for (let i = 0; i < components; i++) data.set([i + 1, 0x11, 0], 6 + 3 * i)
  return jpegSegment(marker, data)
}

export function jpegExif(orientation: number, littleEndian?: boolean): Buffer {
  return jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), exif(orientation, littleEndian)]))
}

/** The header of a scan, and some bytes in place of it: enough for what does not decode. */
export function jpegScan(): Buffer {
  return Buffer.concat([
    jpegSegment(0xda, Buffer.from('03010002110311003f00', 'hex')),
    Buffer.alloc(40, 0x55),
  ])
}

/** A JPEG of the given segments between its start and a scan. */
export function jpeg(...segments: Buffer[]): Buffer {
  return Buffer.concat([SOI, ...segments, jpegScan(), EOI])
}
