type Coordinate = [reference: string, degreesMinutesSeconds: [dividend: number, divisor: number][]]

export interface ExifFields {
  make?: string
  model?: string
  copyright?: string
  artist?: string
  takenAt?: string
  offset?: string
  latitude?: Coordinate
  longitude?: Coordinate
}

type Value = string | number | [number, number][]

/** An EXIF block of the given fields, in their three directories, from its byte order on. */
export function exifBlock(fields: ExifFields, littleEndian = true): Buffer {
  const { make, model, artist, copyright, takenAt, offset, latitude, longitude } = fields
  const photo = directory({ 36867: takenAt, 36881: offset })
  const gps = directory({
    1: latitude?.[0],
    2: latitude?.[1],
    3: longitude?.[0],
    4: longitude?.[1],
  })
  const own = directory({
    271: make,
    272: model,
    315: artist,
    33432: copyright,
    34665: photo.length > 0 ? 0 : undefined,
    34853: gps.length > 0 ? 0 : undefined,
  })
  const starts = [8, 8 + bytesOf(own), 8 + bytesOf(own) + bytesOf(photo)]
  for (const entry of own) {
    if (entry[0] === 34_665) entry[1] = starts[1]!
    if (entry[0] === 34_853) entry[1] = starts[2]!
  }
  const header = Buffer.concat([Buffer.from(littleEndian ? 'II' : 'MM'), uint(42, 2), uint(8, 4)])
  return Buffer.concat([header, ...[own, photo, gps].map((entries, i) => write(entries, starts[i]!))])

  function write(entries: [number, Value][], start: number): Buffer {
    if (entries.length === 0) return Buffer.alloc(0)
    let at = start + 6 + 12 * entries.length
    const behind: Buffer[] = []
    const heads = entries.map(([tag, value]) => {
      const bytes = encode(value)
      const type = typeof value === 'string' ? 2 : typeof value === 'number' ? 4 : 5
      const count = typeof value === 'string' ? bytes.length : typeof value === 'number' ? 1 : value.length
      const inside = bytes.length <= 4
      const head = [uint(tag, 2), uint(type, 2), uint(count, 4)]
      if (inside) return Buffer.concat([...head, bytes, Buffer.alloc(4 - bytes.length)])
      behind.push(bytes)
      at += bytes.length
      return Buffer.concat([...head, uint(at - bytes.length, 4)])
    })
    return Buffer.concat([uint(entries.length, 2), ...heads, uint(0, 4), ...behind])
  }

  function encode(value: Value): Buffer {
    if (typeof value === 'string') return Buffer.from(`${value}\0`)
    if (typeof value === 'number') return uint(value, 4)
    return Buffer.concat(value.flat().map((one) => uint(one, 4)))
  }

  function bytesOf(entries: [number, Value][]): number {
    return write(entries, 0).length
  }

  function uint(value: number, bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes)
    if (littleEndian) buffer.writeUIntLE(value, 0, bytes)
    else buffer.writeUIntBE(value, 0, bytes)
    return buffer
  }
}

function directory(fields: Record<number, Value | undefined>): [number, Value][] {
  return Object.entries(fields).flatMap(([tag, value]) => (value === undefined ? [] : [[Number(tag), value]]))
}
