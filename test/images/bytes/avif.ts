export function box(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([uint(8 + body.length, 4), Buffer.from(type, 'latin1'), body])
}

export function fullBox(type: string, version: number, flags: number, ...parts: Uint8Array[]): Buffer {
  return box(type, uint(version * 2 ** 24 + flags, 4), ...parts)
}

export function fileType(major: string, ...compatible: string[]): Buffer {
  return box('ftyp', ...[major, '\0\0\0\0', ...compatible].map((brand) => Buffer.from(brand, 'latin1')))
}

/** The properties of an item, by the names of their boxes. */
export const property = {
  size: (width: number, height: number) => fullBox('ispe', 0, 0, uint(width, 4), uint(height, 4)),
  rotation: (quarterTurns: number) => box('irot', uint(quarterTurns, 1)),
  channels: (channels: number, bitDepth: number) =>
    fullBox('pixi', 0, 0, uint(channels, 1), Buffer.alloc(channels, bitDepth)),
  codec: (bitDepth: 8 | 10 | 12) =>
    box('av1C', Buffer.from([0x81, 0, bitDepth === 8 ? 0 : bitDepth === 10 ? 0x40 : 0x60, 0])),
  alpha: () => fullBox('auxC', 0, 0, Buffer.from('urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0')),
  cicp: (primaries: number, transfer: number) =>
    box('colr', Buffer.from('nclx'), uint(primaries, 2), uint(transfer, 2), uint(9, 2), uint(0, 1)),
  crop: (width: number, height: number) =>
    box('clap', ...[width, 1, height, 1, 0, 1, 0, 1].map((value) => uint(value, 4))),
}

export interface AvifItem {
  id: number
  /** Defaults to av01. */
  type?: string
  properties: Buffer[]
}

/** The box "meta" of the given items, of which the first is the primary one. */
export function meta(items: AvifItem[]): Buffer {
  const all = items.flatMap(({ properties }) => properties)
  const types = items.map(({ id, type = 'av01' }) =>
    fullBox('infe', 2, 0, uint(id, 2), uint(0, 2), Buffer.from(`${type}\0`, 'latin1')),
  )
  const associations = items.map(({ id, properties }) =>
    Buffer.concat([
      uint(id, 2),
      uint(properties.length, 1),
      ...properties.map((one) => uint(all.indexOf(one) + 1, 1)),
    ]),
  )
  return fullBox(
    'meta',
    0,
    0,
    fullBox('hdlr', 0, 0, Buffer.from('\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1')),
    fullBox('pitm', 0, 0, uint(items[0]!.id, 2)),
    fullBox('iinf', 0, 0, uint(items.length, 2), ...types),
    box('iprp', box('ipco', ...all), fullBox('ipma', 0, 0, uint(items.length, 4), ...associations)),
  )
}

export function avif(items: AvifItem[], brand: Buffer = fileType('avif', 'avif', 'mif1', 'miaf')): Buffer {
  return Buffer.concat([brand, meta(items), box('mdat', Buffer.alloc(64, 1))])
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}
