import type { Limits } from '../../limits.ts'
import { ascii, view } from '../bytes.ts'
import { EndOfBytes, type ForwardBytes, type Parsing } from '../forward-parser.ts'
import { checkFrames, checkPixels, checkSamples } from '../limit-checks.ts'
import { upright, validOrientation } from '../orientation.ts'
import { entryBytes, readEntry, readOffset, TAG, type TiffEntry, type TiffLayout } from '../tiff-directory.ts'
import { corrupt, IMAGE_TYPES, type ImageFacts, unsupported } from '../verdict.ts'
import { rawName } from './tiff-raw.ts'

/**
 * TIFF and BigTIFF. The header tells where the first directory is, which is always ahead; what a directory points to
 * may lie behind it, and then stays unknown to a pass that only goes forward.
 */
export function* parseTiff(bytes: ForwardBytes, limits: Limits): Parsing<ImageFacts> {
  const { layout, first } = yield* readHeader(bytes)
  if (first < bytes.position) throw corrupt('the TIFF’s first directory would lie in its header')
  yield* bytes.skip(first - bytes.position)
  const { tags, next } = yield* readDirectory(bytes, layout)
  const value = (tag: number) => tags.get(tag)?.value
  const [width, height] = [value(TAG.width) ?? 0, value(TAG.height) ?? 0]
  checkPixels('a TIFF', width, height, limits)
  // A tile is decoded whole, however little of it the image shows.
  const [tileWidth, tileHeight] = [value(TAG.tileWidth), value(TAG.tileHeight)]
  if (tileWidth && tileHeight) checkPixels('a TIFF tile', tileWidth, tileHeight, limits)

  const ahead = yield* readAhead(bytes, layout, { tags, next }, limits)
  const raw = rawName(tags, ahead.make)
  if (raw) throw unsupported(raw)
  const compression = UNSUPPORTED_COMPRESSION[value(TAG.compression) ?? 1]
  if (compression) throw unsupported(`a TIFF compressed as ${compression}`)

  const orientation = validOrientation(value(TAG.orientation))
  const channels = value(TAG.samplesPerPixel) ?? 1
  const bitDepth = value(TAG.bitsPerSample) ?? ahead.bitDepth
  checkSamples('a TIFF', channels, bitDepth)
  return {
    type: 'tiff',
    contentType: IMAGE_TYPES.tiff.contentType,
    ...upright(width, height, orientation),
    orientation,
    animated: false,
    ...(ahead.pages !== undefined && { frames: ahead.pages }),
    channels,
    alpha: hasAlpha(tags),
    ...(bitDepth !== undefined && { bitDepth }),
  }
}

function* readHeader(bytes: ForwardBytes): Parsing<{ layout: TiffLayout; first: number }> {
  const start = yield* bytes.take(4)
  const littleEndian = ascii(start, 0, 2) === 'II'
  const big = start[littleEndian ? 2 : 3] === BIG_TIFF
  const layout = { littleEndian, big }
  if (big) {
    const sizes = view(yield* bytes.take(4))
    if (sizes.getUint16(0, littleEndian) !== 8)
      throw corrupt('the BigTIFF has offsets of another size than 8')
  }
  return { layout, first: readOffset(yield* bytes.take(big ? 8 : 4), 0, layout) }
}

interface Directory {
  tags: Map<number, TiffEntry>
  /** The position of the next directory; 0 behind the last. */
  next: number
}

function* readDirectory(bytes: ForwardBytes, layout: TiffLayout): Parsing<Directory> {
  const head = yield* bytes.take(layout.big ? 8 : 2)
  let entries = layout.big ? readOffset(head, 0, layout) : view(head).getUint16(0, layout.littleEndian)
  const tags = new Map<number, TiffEntry>()
  while (entries-- > 0) {
    const entry = readEntry(yield* bytes.take(entryBytes(layout)), layout)
    if (WANTED.has(entry.tag) && !tags.has(entry.tag)) tags.set(entry.tag, entry)
  }
  return { tags, next: readOffset(yield* bytes.take(layout.big ? 8 : 4), 0, layout) }
}

interface Ahead {
  make?: string
  bitDepth?: number
  /** How many directories there are in the chain; absent when it leads backwards or out of the file. */
  pages?: number
}

/** Reads what the first directory points to and what lies ahead, in the order in which the file has it. */
function* readAhead(
  bytes: ForwardBytes,
  layout: TiffLayout,
  { tags, next }: Directory,
  limits: Limits,
): Parsing<Ahead> {
  const ahead: Ahead = {}
  let pages = 1
  let chain = next
  const make = tags.get(TAG.make)
  const bits = tags.get(TAG.bitsPerSample)
  const open: { offset: number; read: () => Parsing<void> }[] = []
  if (make?.offset !== undefined) {
    const length = Math.min(make.count, MOST_MAKE_BYTES)
    open.push({
      offset: make.offset,
      *read() {
        ahead.make = ascii(yield* bytes.take(length)).replace(/\0.*/s, '')
      },
    })
  }
  if (bits?.offset !== undefined) {
    open.push({
      offset: bits.offset,
      *read() {
        ahead.bitDepth = view(yield* bytes.take(2)).getUint16(0, layout.littleEndian)
      },
    })
  }
  const page = {
    get offset() {
      return chain
    },
    *read(): Parsing<void> {
      chain = (yield* readDirectory(bytes, layout)).next
      pages++
      checkFrames(pages, `the TIFF has at least ${pages} pages`, limits)
    },
  }
  try {
    for (;;) {
      const candidates = chain === 0 ? open : [...open, page]
      const [nearest] = candidates
        .filter(({ offset }) => offset >= bytes.position)
        .sort((a, b) => a.offset - b.offset)
      if (!nearest) break
      yield* bytes.skip(nearest.offset - bytes.position)
      yield* nearest.read()
      if (nearest !== page) open.splice(open.indexOf(nearest), 1)
    }
  } catch (error) {
    // The image that is shown is described; whether all of it is there the decoder finds.
    if (!(error instanceof EndOfBytes)) throw error
  }
  if (chain === 0) ahead.pages = pages
  return ahead
}

/** Extra samples that are alpha, associated or not; where their kinds do not fit into the entry, the count tells. */
function hasAlpha(tags: Map<number, TiffEntry>): boolean {
  const extra = tags.get(TAG.extraSamples)
  return extra !== undefined && (extra.value === undefined ? extra.count > 0 : extra.value > 0)
}

/** What the decoder's TIFF library was built without; camera RAW has its own. */
const UNSUPPORTED_COMPRESSION: Record<number, string> = {
  6: 'old-style JPEG',
  33003: 'JPEG 2000',
  33004: 'JPEG 2000',
  33005: 'JPEG 2000',
  34661: 'JBIG',
  34712: 'JPEG 2000',
  34887: 'LERC',
  34925: 'LZMA',
  50000: 'Zstandard',
  50002: 'JPEG XL',
  52546: 'JPEG XL',
}

/** Nothing else is kept: a directory may have any number of entries. */
const WANTED = new Set<number>(Object.values(TAG))

const BIG_TIFF = 43
const MOST_MAKE_BYTES = 64
