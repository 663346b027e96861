import { crc32, deflateSync } from 'node:zlib'

/** What rendering the image does. */
export type ImageKind =
  /** Gives a thumbnail. */
  | 'good'
  /** Is found corrupt. */
  | 'corrupt'
  /** Crashes the renderer each time: poison. */
  | 'crashing'
  /** Takes the whole worker down each time: worse poison. */
  | 'killing'
  /** Never ends. */
  | 'hanging'
  /** Crashes the renderer every other time. */
  | 'flaky'

export interface SimulatedImage {
  kind: ImageKind
  renderMs: number
  /** Makes two images different. */
  salt: string
}

/** A real PNG of one pixel that carries, in a text chunk, how it behaves. */
export function encodeImage(image: SimulatedImage): Buffer {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('tEXt', Buffer.from(`${KEYWORD}\0${JSON.stringify(image)}`)),
    PIXEL,
    chunk('IEND', Buffer.alloc(0)),
  ])
}

export function decodeImage(bytes: Buffer): SimulatedImage {
  const at = bytes.indexOf(`${KEYWORD}\0`)
  const length = bytes.readUInt32BE(at - 8)
  return JSON.parse(bytes.subarray(at + KEYWORD.length + 1, at + length).toString())
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, sum])
}

const KEYWORD = 'img42'
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PIXEL = chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0])))
