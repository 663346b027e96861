import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { withChunk } from './tagged-png.ts'

/** A profile of version 2: its space as ICC writes it ("RGB ", "GRAY"), and its tags. */
export function iccProfile(space: string, tags: Record<string, Buffer>): Buffer {
  const names = Object.keys(tags)
  const header = Buffer.alloc(128)
  header.writeUInt32BE(0x02100000, 8)
  header.write('mntr', 12, 'latin1')
  header.write(space, 16, 'latin1')
  header.write('XYZ acsp', 20, 'latin1')
  header.write('acsp', 36, 'latin1')
  // The white of the connection space, D50.
  header.set(xyz(0.9642, 1, 0.8249).subarray(8), 68)
  const table = Buffer.alloc(4 + 12 * names.length)
  table.writeUInt32BE(names.length, 0)
  let offset = header.length + table.length
  const bodies = names.map((name, i) => {
    const body = Buffer.concat([tags[name]!, Buffer.alloc((4 - (tags[name]!.length % 4)) % 4)])
    table.write(name, 4 + 12 * i, 'latin1')
    table.writeUInt32BE(offset, 8 + 12 * i)
    table.writeUInt32BE(tags[name]!.length, 12 + 12 * i)
    offset += body.length
    return body
  })
  header.writeUInt32BE(offset, 0)
  return Buffer.concat([header, table, ...bodies])
}

export function xyz(...values: [number, number, number]): Buffer {
  const tag = Buffer.alloc(20)
  tag.write('XYZ ', 'latin1')
  for (const [i, value] of values.entries()) tag.writeInt32BE(Math.round(value * 65_536), 8 + 4 * i)
  return tag
}

export function gamma(value: number): Buffer {
  const tag = Buffer.alloc(14)
  tag.write('curv', 'latin1')
  tag.writeUInt32BE(1, 8)
  tag.writeUInt16BE(Math.round(value * 256), 12)
  return tag
}

export function description(name: string): Buffer {
  const tag = Buffer.alloc(12 + name.length + 1 + 78)
  tag.write('desc', 'latin1')
  tag.writeUInt32BE(name.length + 1, 8)
  tag.write(name, 12, 'latin1')
  return tag
}

/** The text in UTF-16, as version 4 has it. */
export function localised(name: string): Buffer {
  const head = Buffer.alloc(28)
  head.write('mluc', 'latin1')
  head.writeUInt32BE(1, 8)
  head.writeUInt32BE(12, 12)
  head.write('enUS', 16, 'latin1')
  head.writeUInt32BE(2 * name.length, 20)
  head.writeUInt32BE(28, 24)
  return Buffer.concat([head, Buffer.from(name, 'utf16le').swap16()])
}

export function greyProfile(exponent: number): Buffer {
  return iccProfile('GRAY', {
    desc: description(`Grey ${exponent}`),
    wtpt: xyz(0.9642, 1, 0.8249),
    kTRC: gamma(exponent),
  })
}

/** Of ProPhoto's very wide primaries, with a plain curve of 1.8. */
export function proPhotoProfile(): Buffer {
  return iccProfile('RGB ', {
    desc: description('Wide'),
    wtpt: xyz(0.9642, 1, 0.8249),
    rXYZ: xyz(0.7977, 0.288, 0),
    gXYZ: xyz(0.1352, 0.7119, 0),
    bXYZ: xyz(0.0313, 0.0001, 0.8249),
    rTRC: gamma(1.8),
    gTRC: gamma(1.8),
    bTRC: gamma(1.8),
  })
}

/** The PNG with a profile, its samples left as they are. */
export function withProfile(png: Buffer, profile: Buffer): Buffer {
  return withChunk(png, 'iCCP', Buffer.concat([Buffer.from('a\0\0', 'latin1'), deflateSync(profile)]))
}

/** The profile of Display P3 that the decoder has built in. */
export async function displayP3(): Promise<Buffer> {
  const tagged = sharp({ create: { width: 1, height: 1, channels: 3, background: '#888' } }).withIccProfile(
    'p3',
  )
  return (await sharp(await tagged.png().toBuffer()).metadata()).icc!
}
