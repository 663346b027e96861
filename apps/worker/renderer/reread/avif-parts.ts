import { BadDerivative, type Part, slice } from './part.ts'

/**
 * The boxes of an AVIF, those inside of others behind them, with their whole path as type: `meta/iprp/ipco/ispe`. Items
 * of the file follow as `item/av01`. All of the box "mdat" belongs to some item.
 */
export function* avifParts(avif: Buffer): Generator<Part> {
  const items = new Map<number, string>()
  const places: Place[] = []
  let media: { from: number; to: number } | null = null
  for (const { type, data } of boxes(avif, '')) {
    yield { type, data }
    if (type === 'meta/iinf/infe') items.set(data.readUInt16BE(4), data.toString('latin1', 8, 12))
    else if (type === 'meta/iloc') places.push(...readPlaces(data))
    else if (type === 'mdat') {
      if (media) throw new BadDerivative('has two boxes "mdat"')
      const from = data.byteOffset - avif.byteOffset
      media = { from, to: from + data.length }
    }
  }
  let covered = media?.from ?? 0
  for (const { id, from, to } of places.sort((a, b) => a.from - b.from)) {
    if (from !== covered) throw new BadDerivative('has bytes in its box "mdat" that belong to no item')
    covered = to
    yield { type: `item/${items.get(id)}`, data: slice(avif, from, to) }
  }
  if (!media || covered !== media.to) throw new BadDerivative('has bytes behind its last item')
}

function* boxes(bytes: Buffer, path: string): Generator<Part> {
  for (let at = 0; at < bytes.length; ) {
    const head = slice(bytes, at, at + 8)
    const type = path + head.toString('latin1', 4)
    const data = slice(bytes, at + 8, at + head.readUInt32BE())
    yield { type, data }
    const headBytes = CONTAINERS[type]
    if (headBytes !== undefined) yield* boxes(data.subarray(headBytes), `${type}/`)
    at += 8 + data.length
  }
}

interface Place {
  id: number
  from: number
  to: number
}

/** The item locations as our encoder writes them: version 0, one piece an item, numbers of 4 bytes. */
function readPlaces(iloc: Buffer): Place[] {
  if (iloc.readUInt32BE(0) !== 0 || (iloc.readUInt16BE(4) & 0xff00) !== 0x4400) {
    throw new BadDerivative('tells in an unknown way where its items are')
  }
  const baseBytes = (iloc[5]! & 0xf0) >> 4
  const places: Place[] = []
  let at = 8
  for (let left = iloc.readUInt16BE(6); left > 0; left--) {
    const pieces = iloc.readUInt16BE(at + 4 + baseBytes)
    const base = baseBytes === 4 ? iloc.readUInt32BE(at + 4) : 0
    if (pieces !== 1) throw new BadDerivative('has an item in several pieces')
    const from = base + iloc.readUInt32BE(at + 6 + baseBytes)
    places.push({ id: iloc.readUInt16BE(at), from, to: from + iloc.readUInt32BE(at + 10 + baseBytes) })
    at += 14 + baseBytes
  }
  return places
}

/** Boxes that hold boxes, behind so many bytes of their own. */
const CONTAINERS: Record<string, number> = { meta: 4, 'meta/iinf': 6, 'meta/iprp': 0, 'meta/iprp/ipco': 0 }
