import type { Limits } from '../../limits.ts'
import { ascii, view } from '../bytes.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { corrupt } from '../verdict.ts'
import { type Property, readProperty } from './avif-properties.ts'
import { type Box, readChildren, readFullBoxHead, readUint } from './iso-boxes.ts'

/** What the "meta" box says about the items of the file. */
export interface Items {
  primaryId: number | null
  /** By item id: "av01", "hvc1", "grid", … */
  types: Map<number, string>
  /** By index, from 1: those that are wanted only. */
  properties: Map<number, Property>
  /** By item id: the indices of its properties. */
  associations: Map<number, number[]>
}

/** The largest grids have some hundred tiles, each of them an item; what is remembered stays small. */
const MAX_ITEMS = 4_096
const MAX_ASSOCIATIONS = 32_768

/** Reads the box "meta", whose head is read. */
export function* readItems(bytes: ForwardBytes, meta: Box, limits: Limits): Parsing<Items> {
  const items: Items = { primaryId: null, types: new Map(), properties: new Map(), associations: new Map() }
  yield* readFullBoxHead(bytes)
  yield* readChildren(bytes, meta, function* (box) {
    if (box.type === 'pitm') items.primaryId = yield* readPrimaryId(bytes)
    else if (box.type === 'iinf') yield* readTypes(bytes, box, items)
    else if (box.type === 'iprp') {
      yield* readChildren(bytes, box, function* (child) {
        if (child.type === 'ipco') yield* readProperties(bytes, child, items, limits)
        else if (child.type === 'ipma') yield* readAssociations(bytes, child, items)
      })
    }
  })
  return items
}

function* readPrimaryId(bytes: ForwardBytes): Parsing<number> {
  const { version } = yield* readFullBoxHead(bytes)
  return yield* readUint(bytes, version === 0 ? 2 : 4)
}

function* readTypes(bytes: ForwardBytes, iinf: Box, { types }: Items): Parsing<void> {
  const { version } = yield* readFullBoxHead(bytes)
  yield* bytes.skip(version === 0 ? 2 : 4)
  yield* readChildren(bytes, iinf, function* (box) {
    if (box.type !== 'infe') return
    const entry = yield* readFullBoxHead(bytes)
    // Versions 0 and 1 are older than image items.
    if (entry.version < 2) return
    const id = yield* readUint(bytes, entry.version === 2 ? 2 : 4)
    types.set(id, ascii(yield* bytes.take(6), 2, 6))
    if (types.size > MAX_ITEMS) throw corrupt(`the AVIF has more than ${MAX_ITEMS} items`)
  })
}

function* readProperties(
  bytes: ForwardBytes,
  ipco: Box,
  { properties }: Items,
  limits: Limits,
): Parsing<void> {
  let index = 0
  yield* readChildren(bytes, ipco, function* (box) {
    index++
    const property = yield* readProperty(bytes, box, limits)
    if (property) properties.set(index, property)
    if (properties.size > MAX_ITEMS) throw corrupt(`the AVIF has more than ${MAX_ITEMS} properties`)
  })
}

function* readAssociations(bytes: ForwardBytes, ipma: Box, { associations }: Items): Parsing<void> {
  const { version, flags } = yield* readFullBoxHead(bytes)
  const wide = (flags & 1) === 1
  let entries = yield* readUint(bytes, 4)
  let total = 0
  while (entries-- > 0 && bytes.position < ipma.end) {
    const id = yield* readUint(bytes, version < 1 ? 2 : 4)
    const count = yield* readUint(bytes, 1)
    const data = view(yield* bytes.take(count * (wide ? 2 : 1)))
    // The upper bit says that the property is essential.
    const indices = Array.from({ length: count }, (_, i) =>
      wide ? data.getUint16(2 * i) & 0x7fff : data.getUint8(i) & 0x7f,
    )
    associations.set(id, [...(associations.get(id) ?? []), ...indices])
    total += 1 + count
    if (total > MAX_ASSOCIATIONS) throw corrupt('the AVIF has too many properties of its items')
  }
}
