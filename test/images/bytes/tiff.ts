/** A field of a directory: tag, type (3 SHORT, 4 LONG, 2 ASCII by a text), and its value or values. */
export type TiffField = [tag: number, type: number, value: number | number[] | string]

export interface TiffOptions {
  littleEndian?: boolean
  big?: boolean
  /** Bytes between the header and the first directory, such as image data. */
  before?: Uint8Array
  /** Where values go that do not fit into an entry: behind their directory, or in front of the first. */
  valuesBefore?: boolean
}

const TYPE_BYTES: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 13: 4, 16: 8 }

/** A TIFF of the given directories, each behind the one before it; without any image data of its own. */
export function tiff(directories: TiffField[][], options: TiffOptions = {}): Buffer {
  const { littleEndian = true, big = false, before = Buffer.alloc(0), valuesBefore = false } = options
  const number = (value: number, bytes: number): Buffer => {
    const buffer = Buffer.alloc(bytes)
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value))
    else buffer.writeUIntLE(value, 0, bytes)
    return littleEndian ? buffer : buffer.reverse()
  }
  const offsetBytes = big ? 8 : 4
  const encode = ([, type, value]: TiffField): { count: number; bytes: Buffer } => {
    if (typeof value === 'string')
      return { count: value.length + 1, bytes: Buffer.from(`${value}\0`, 'latin1') }
    const values = [value].flat()
    return { count: values.length, bytes: Buffer.concat(values.map((one) => number(one, TYPE_BYTES[type]!))) }
  }
  const long = (field: TiffField) => encode(field).bytes.length > offsetBytes

  const headerBytes = big ? 16 : 8
  const parts: Buffer[] = [Buffer.from(before)]
  let at = headerBytes + before.length
  const put = (bytes: Buffer) => {
    parts.push(bytes)
    at += bytes.length
    return at - bytes.length
  }
  const places = new Map<TiffField, number>()
  if (valuesBefore) {
    for (const field of directories.flat().filter(long)) places.set(field, put(encode(field).bytes))
  }
  const first = at
  directories.forEach((fields, i) => {
    const countBytes = big ? 8 : 2
    const entryBytes = big ? 20 : 12
    const end = at + countBytes + fields.length * entryBytes + offsetBytes
    const behind = fields.filter((field) => long(field) && !places.has(field))
    let next = end
    for (const field of behind) {
      places.set(field, next)
      next += encode(field).bytes.length
    }
    put(number(fields.length, countBytes))
    for (const field of fields) {
      const { count, bytes } = encode(field)
      const place = places.get(field)
      const value = Buffer.alloc(offsetBytes)
      if (place === undefined) bytes.copy(value)
      else number(place, offsetBytes).copy(value)
      put(Buffer.concat([number(field[0], 2), number(field[1], 2), number(count, offsetBytes), value]))
    }
    put(number(i + 1 < directories.length ? next : 0, offsetBytes))
    for (const field of behind) put(encode(field).bytes)
  })
  const header = [Buffer.from(littleEndian ? 'II' : 'MM'), number(big ? 43 : 42, 2)]
  if (big) header.push(number(8, 2), number(0, 2))
  return Buffer.concat([...header, number(first, offsetBytes), ...parts])
}

/** The fields of an uncompressed image of 8 bits and three colours. */
export function tiffImage(width: number, height: number, ...more: TiffField[]): TiffField[] {
  return [
    [256, 4, width],
    [257, 4, height],
    [258, 3, [8, 8, 8]],
    [259, 3, 1],
    [262, 3, 2],
    [277, 3, 3],
    ...more,
  ]
}
