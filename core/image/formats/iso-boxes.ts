import { ascii, view } from '../bytes.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { corrupt } from '../verdict.ts'

/** A box of the ISO base media file format, its head read. */
export interface Box {
  type: string
  /** The position behind the box; Infinity for one that runs to the end of the file. */
  end: number
}

/** @param parentEnd the end of the box around it, which it has to keep to */
export function* readBoxHead(bytes: ForwardBytes, parentEnd: number): Parsing<Box> {
  const start = bytes.position
  const head = yield* bytes.take(8)
  const type = ascii(head, 4, 8)
  let size = view(head).getUint32(0)
  if (size === 1) size = Number(view(yield* bytes.take(8)).getBigUint64(0))
  const end = size === 0 ? parentEnd : start + size
  if (end < bytes.position || end > parentEnd) {
    throw corrupt(`the AVIF’s box ${JSON.stringify(type)} has the size ${size}, which does not fit`)
  }
  return { type, end }
}

/** The children of a box, one after the other: `read` reads what it wants of each, the rest is skipped. */
export function* readChildren(
  bytes: ForwardBytes,
  parent: Box,
  read: (child: Box) => Parsing<void>,
): Parsing<void> {
  while (bytes.position + 8 <= parent.end) {
    const child = yield* readBoxHead(bytes, parent.end)
    yield* read(child)
    yield* skipRest(bytes, child)
  }
  yield* skipRest(bytes, parent)
}

export function* skipRest(bytes: ForwardBytes, box: Box): Parsing<void> {
  if (bytes.position > box.end) throw corrupt(`the AVIF’s box ${JSON.stringify(box.type)} is too short`)
  yield* bytes.skip(box.end - bytes.position)
}

/** The version and flags that a "full" box begins with. */
export function* readFullBoxHead(bytes: ForwardBytes): Parsing<{ version: number; flags: number }> {
  const word = view(yield* bytes.take(4)).getUint32(0)
  return { version: word >>> 24, flags: word & 0xffffff }
}

export function* readUint(bytes: ForwardBytes, size: 1 | 2 | 4): Parsing<number> {
  const piece = view(yield* bytes.take(size))
  return size === 1 ? piece.getUint8(0) : size === 2 ? piece.getUint16(0) : piece.getUint32(0)
}
