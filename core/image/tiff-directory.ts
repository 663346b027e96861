import { view } from './bytes.ts'

/** How a TIFF, and so EXIF, writes numbers: "II" or "MM", and with 4-byte or (BigTIFF) 8-byte offsets. */
export interface TiffLayout {
  littleEndian: boolean
  big: boolean
}

/** The tags that are looked at. */
export const TAG = {
  subfileType: 254,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  make: 271,
  orientation: 274,
  samplesPerPixel: 277,
  tileWidth: 322,
  tileHeight: 323,
  subDirectories: 330,
  extraSamples: 338,
  dngVersion: 50_706,
  kodakDirectory: 65_024,
} as const

/** One field of a directory. */
export interface TiffEntry {
  tag: number
  count: number
  /** The first value, where it is a whole number that stands in the entry itself. */
  value?: number
  /** Where the values stand, where they do not fit into the entry. */
  offset?: number
}

/** The bytes of one entry of a directory. */
export function entryBytes({ big }: TiffLayout): number {
  return big ? 20 : 12
}

export function readEntry(bytes: Uint8Array, layout: TiffLayout): TiffEntry {
  const { littleEndian, big } = layout
  const numbers = view(bytes)
  const tag = numbers.getUint16(0, littleEndian)
  const type = numbers.getUint16(2, littleEndian)
  const count = readOffset(bytes, 4, layout)
  const at = big ? 12 : 8
  const size = TYPE_BYTES[type]
  if (size === undefined) return { tag, count }
  if (size * count > (big ? 8 : 4)) return { tag, count, offset: readOffset(bytes, at, layout) }
  if (count === 0) return { tag, count }
  const value = readNumber(bytes, at, type, littleEndian)
  return value === undefined ? { tag, count } : { tag, count, value }
}

/** A number as wide as the layout's offsets are. Beyond 2^53 it is not exact, and beyond every file anyway. */
export function readOffset(bytes: Uint8Array, at: number, { littleEndian, big }: TiffLayout): number {
  const numbers = view(bytes)
  return big ? Number(numbers.getBigUint64(at, littleEndian)) : numbers.getUint32(at, littleEndian)
}

function readNumber(bytes: Uint8Array, at: number, type: number, littleEndian: boolean): number | undefined {
  const numbers = view(bytes)
  switch (type) {
    case 1:
      return numbers.getUint8(at)
    case 3:
      return numbers.getUint16(at, littleEndian)
    case 4:
    case 13:
      return numbers.getUint32(at, littleEndian)
    case 16:
    case 18:
      return Number(numbers.getBigUint64(at, littleEndian))
    default:
      return undefined
  }
}

/** BYTE, ASCII, SHORT, LONG, RATIONAL, SBYTE, UNDEFINED, SSHORT, SLONG, SRATIONAL, FLOAT, DOUBLE, IFD, LONG8, … */
const TYPE_BYTES: Record<number, number> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
}
