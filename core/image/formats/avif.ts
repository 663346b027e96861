import type { Limits } from '../../limits.ts'
import { ascii } from '../bytes.ts'
import { EndOfBytes, type ForwardBytes, type Parsing } from '../forward-parser.ts'
import { corrupt, IMAGE_TYPES, type ImageFacts, unsupported } from '../verdict.ts'
import { type Items, readItems } from './avif-items.ts'
import type { Property } from './avif-properties.ts'
import { type Box, readBoxHead, skipRest } from './iso-boxes.ts'

/** AVIF: the boxes of the file up to its end, of which "meta" describes the image that is shown. */
export function* parseAvif(bytes: ForwardBytes, limits: Limits): Parsing<ImageFacts> {
  let facts: ImageFacts | null = null
  let sequence = false
  for (;;) {
    const box = yield* nextBox(bytes)
    if (box === null) break
    if (box.type === 'ftyp') {
      const brands = ascii(yield* bytes.take(Math.min(box.end - bytes.position, MOST_BRAND_BYTES)))
      sequence = /^(.{4})+?avis/s.test(brands)
    } else if (box.type === 'meta' && facts === null) {
      facts = factsOf(yield* readItems(bytes, box, limits), sequence)
    }
    // A box without a size goes on to the end, wherever that is.
    if (box.end === Infinity) break
    yield* skipRest(bytes, box)
  }
  if (facts === null) throw corrupt('the AVIF describes no image: its box "meta" is missing')
  return facts
}

/** The head of the next box, or null at the end of the file. Fewer bytes than a head has are nothing to miss. */
function* nextBox(bytes: ForwardBytes): Parsing<Box | null> {
  try {
    return yield* readBoxHead(bytes, Infinity)
  } catch (error) {
    if (error instanceof EndOfBytes) return null
    throw error
  }
}

/** What the primary item says, its transforms applied as every reader has to: first the crop, then the rotation. */
function factsOf(items: Items, sequence: boolean): ImageFacts {
  const { primaryId, types, properties, associations } = items
  if (primaryId === null) throw corrupt('the AVIF names no primary image')
  checkCodec(primaryId, types)
  const own = (associations.get(primaryId) ?? []).flatMap((index) => properties.get(index) ?? [])
  const size = find(own, 'size')
  if (!size) throw corrupt('the AVIF does not tell the size of its primary image')
  const crop = find(own, 'crop')
  // A crop that holds nothing, or more than there is, is passed over, as decoders do.
  const seen = crop && crop.width >= 1 && crop.height >= 1 ? crop : size
  const width = Math.min(seen.width, size.width)
  const height = Math.min(seen.height, size.height)
  const sideways = (find(own, 'rotation')?.quarterTurns ?? 0) % 2 === 1
  const samples = find(own, 'channels') ?? find(own, 'codec')
  const cicp = find(own, 'cicp')
  const alpha = [...properties.values()].some(({ kind }) => kind === 'alpha')
  return {
    type: 'avif',
    contentType: IMAGE_TYPES.avif.contentType,
    width: sideways ? height : width,
    height: sideways ? width : height,
    orientation: 1,
    animated: sequence,
    ...(!sequence && { frames: 1 }),
    ...(samples && { channels: samples.channels + (alpha ? 1 : 0), bitDepth: samples.bitDepth }),
    alpha,
    ...([...types.values()].includes('tmap') && { gainMap: true as const }),
    ...(cicp && { cicp: { primaries: cicp.primaries, transfer: cicp.transfer } }),
  }
}

/** The brands only promise a codec; the items have it. A derived image (a grid, say) has that of its parts. */
function checkCodec(primaryId: number, types: Map<number, string>): void {
  const type = types.get(primaryId)
  if (type === undefined) throw corrupt('the AVIF does not say of what type its primary image is')
  const codec = DERIVED.includes(type) ? [...types.values()].find((other) => other in CODECS) : type
  if (codec === 'av01') return
  const name = CODECS[codec ?? type]
  throw unsupported(name ? `a HEIF image of codec ${name}` : `a HEIF image of type ${JSON.stringify(type)}`)
}

function find<K extends Property['kind']>(
  properties: Property[],
  kind: K,
): Extract<Property, { kind: K }> | undefined {
  return properties.find((property): property is Extract<Property, { kind: K }> => property.kind === kind)
}

const DERIVED = ['grid', 'iovl', 'iden', 'tmap']

const CODECS: Record<string, string> = {
  av01: 'AV1',
  hvc1: 'HEVC (as in HEIC)',
  hev1: 'HEVC (as in HEIC)',
  avc1: 'AVC',
  vvc1: 'VVC',
  jpeg: 'JPEG',
  j2k1: 'JPEG 2000',
  unci: 'none (uncompressed)',
}

const MOST_BRAND_BYTES = 1_024
