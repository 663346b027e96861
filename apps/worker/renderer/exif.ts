import { cleanText, textOf } from './clean-text.ts'

/** What is read of an EXIF block. What is missing, or nonsense, is absent. */
export interface Exif {
  make?: string
  model?: string
  /** ISO 8601, with an offset only where the block has one. */
  capturedAt?: string
  gps?: { latitude: number; longitude: number }
  copyright?: string
  artist?: string
}

/**
 * Reads the handful of fields that are wanted, and follows nothing else: a block of a few kilobytes can claim gigabytes.
 * Never throws: a camera's mistakes in its EXIF take nothing from the picture.
 *
 * @param block from its byte order on, or from an "Exif" mark before that; a TIFF file is one as well
 */
export function readExif(block: Buffer): Exif {
  try {
    return read(block.toString('latin1', 0, 4) === 'Exif' ? block.subarray(6) : block)
  } catch (error) {
    if (error instanceof RangeError) return {}
    throw error
  }
}

function read(tiff: Buffer): Exif {
  const order = tiff.toString('latin1', 0, 2)
  if (order !== 'II' && order !== 'MM') return {}
  const numbers = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength)
  const block: Block = { tiff, numbers, littleEndian: order === 'II' }
  // BigTIFF is built otherwise, and no camera writes it.
  if (numbers.getUint16(2, block.littleEndian) !== 42) return {}
  const image = fieldsOf(block, numbers.getUint32(4, block.littleEndian))
  const photo = directoryAt(block, image.get(TAG.photoDirectory))
  const gps = directoryAt(block, image.get(TAG.gpsDirectory))
  const texts = {
    make: text(block, image.get(TAG.make)),
    model: text(block, image.get(TAG.model)),
    artist: text(block, image.get(TAG.artist)),
    copyright: text(block, image.get(TAG.copyright)),
    capturedAt: timestamp(
      text(block, photo.get(TAG.takenAt) ?? image.get(TAG.dateTime)),
      text(block, photo.get(TAG.takenOffset)),
    ),
  }
  const latitude = degrees(block, gps.get(GPS.latitude), gps.get(GPS.latitudeRef), { S: -1, N: 1 }, 90)
  const longitude = degrees(block, gps.get(GPS.longitude), gps.get(GPS.longitudeRef), { W: -1, E: 1 }, 180)
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null)),
    ...(latitude !== null && longitude !== null && { gps: { latitude, longitude } }),
  }
}

interface Block {
  tiff: Buffer
  numbers: DataView
  littleEndian: boolean
}

/** Where the values of a field stand. */
interface Field {
  type: number
  count: number
  at: number
}

function directoryAt(block: Block, pointer: Field | undefined): Map<number, Field> {
  if (pointer?.type !== LONG) return new Map()
  return fieldsOf(block, block.numbers.getUint32(pointer.at, block.littleEndian))
}

/** The wanted fields of the directory; of one that is cut off, or leads nowhere, those that are there. */
function fieldsOf({ numbers, littleEndian }: Block, directory: number): Map<number, Field> {
  const fields = new Map<number, Field>()
  if (directory + 2 > numbers.byteLength) return fields
  const entries = Math.min(numbers.getUint16(directory, littleEndian), MOST_ENTRIES)
  for (let i = 0; i < entries; i++) {
    const entry = directory + 2 + 12 * i
    if (entry + 12 > numbers.byteLength) break
    const type = numbers.getUint16(entry + 2, littleEndian)
    const count = numbers.getUint32(entry + 4, littleEndian)
    const bytes = (TYPE_BYTES[type] ?? Number.POSITIVE_INFINITY) * count
    const at = bytes <= 4 ? entry + 8 : numbers.getUint32(entry + 8, littleEndian)
    if (at + bytes <= numbers.byteLength) {
      fields.set(numbers.getUint16(entry, littleEndian), { type, count, at })
    }
  }
  return fields
}

function text({ tiff }: Block, field: Field | undefined): string | null {
  if (field?.type !== ASCII) return null
  return cleanText(textOf(tiff.subarray(field.at, field.at + Math.min(field.count, MOST_TEXT_BYTES))))
}

/** "2008:10:22 16:28:39", in the camera's own time; clocks that were never set are no time. */
function timestamp(time: string | null, offset: string | null): string | null {
  const found = /^([1-9]\d{3})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(time ?? '')
  if (!found) return null
  const [, year, month, day, hour, minute, second] = found
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  // Rejects the 31st of February, and month 0, which Date would move.
  const parsed = new Date(`${local}Z`)
  if (Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 19) !== local) return null
  return /^[+-](0\d|1[0-4]):[0-5]\d$/.test(offset ?? '') ? `${local}${offset}` : local
}

/** Degrees, minutes and seconds, each a fraction, to a ten-millionth of a degree: a centimetre. */
function degrees(
  block: Block,
  field: Field | undefined,
  reference: Field | undefined,
  signs: Record<string, number>,
  limit: number,
): number | null {
  const sign = signs[text(block, reference) ?? '']
  if (sign === undefined || field?.type !== RATIONAL || field.count !== 3) return null
  const [whole, minutes, seconds] = [0, 8, 16].map((step) => {
    const dividend = block.numbers.getUint32(field.at + step, block.littleEndian)
    const divisor = block.numbers.getUint32(field.at + step + 4, block.littleEndian)
    return dividend === 0 ? 0 : dividend / divisor
  }) as [number, number, number]
  const value = whole + minutes / 60 + seconds / 3600
  return value <= limit ? Math.round(sign * value * 1e7) / 1e7 : null
}

const TAG = {
  make: 271,
  model: 272,
  dateTime: 306,
  artist: 315,
  copyright: 33_432,
  photoDirectory: 34_665,
  gpsDirectory: 34_853,
  takenAt: 36_867,
  takenOffset: 36_881,
} as const
const GPS = { latitudeRef: 1, latitude: 2, longitudeRef: 3, longitude: 4 } as const

const ASCII = 2
const LONG = 4
const RATIONAL = 5
const TYPE_BYTES: Record<number, number> = { 1: 1, [ASCII]: 1, 3: 2, [LONG]: 4, [RATIONAL]: 8, 7: 1, 10: 8 }

const MOST_ENTRIES = 1_000
const MOST_TEXT_BYTES = 2_000
