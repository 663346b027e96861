import type { Limits } from '../../limits.ts'
import { ascii, view } from '../bytes.ts'
import type { ForwardBytes, Parsing } from '../forward-parser.ts'
import { checkPixels } from '../limit-checks.ts'
import { exifOrientation, upright } from '../orientation.ts'
import { corrupt, IMAGE_TYPES, type ImageFacts, unsupported } from '../verdict.ts'

/**
 * JPEG: markers up to the first scan. Behind that there is only what a decoder reads; whether it is complete, with or
 * without an end marker, only the decoder knows.
 */
export function* parseJpeg(bytes: ForwardBytes, limits: Limits): Parsing<ImageFacts> {
  let frame: Frame | null = null
  let orientation: number | null = null
  let gainMap = false
  yield* bytes.skip(2)
  for (;;) {
    const marker = yield* nextMarker(bytes)
    if (marker === TEM || (marker >= RST0 && marker <= RST7)) continue
    if (marker === SOI || marker === EOI || marker < SOF0) {
      throw corrupt(`the JPEG has a marker FF${hex(marker)} where its header should be`)
    }
    const [high, low] = yield* bytes.take(2)
    const length = high! * 256 + low! - 2
    if (length < 0) throw corrupt(`the JPEG has a segment FF${hex(marker)} without a valid length`)
    if (marker === SOS) {
      if (!frame) throw corrupt('the JPEG has a scan before its frame header')
      break
    }
    if (isFrameHeader(marker)) {
      if (frame) throw corrupt('the JPEG has two frame headers')
      frame = yield* readFrame(bytes, marker, length)
      checkPixels('a JPEG', frame.width, frame.height, limits)
    } else if (marker === APP1 || marker === APP2) {
      const segment = yield* bytes.take(length)
      if (marker === APP1 && ascii(segment, 0, 6) === 'Exif\0\0') orientation ??= exifOrientation(segment)
      else gainMap ||= tellsOfGainMap(segment)
    } else {
      yield* bytes.skip(length)
    }
  }
  orientation ??= 1
  return {
    type: 'jpeg',
    contentType: IMAGE_TYPES.jpeg.contentType,
    ...upright(frame.width, frame.height, orientation),
    orientation,
    animated: false,
    frames: 1,
    channels: frame.channels,
    alpha: false,
    bitDepth: 8,
    ...(gainMap && { gainMap: true as const }),
  }
}

/** XMP of Adobe's and Android's gain maps, and the mark of ISO 21496-1; the map itself stands behind the image. */
function tellsOfGainMap(segment: Uint8Array): boolean {
  if (ascii(segment, 0, ISO_GAIN_MAP.length) === ISO_GAIN_MAP) return true
  return (
    ascii(segment, 0, XMP.length) === XMP && new TextDecoder('latin1').decode(segment).includes(GAIN_MAP_XMP)
  )
}

interface Frame {
  width: number
  height: number
  channels: number
}

/**
 * The code of the next marker. What stands before it is skipped, FF00 too, and FF may fill: every browser's decoder
 * does the same, and cameras and editors have left such bytes.
 */
function* nextMarker(bytes: ForwardBytes): Parsing<number> {
  for (;;) {
    yield* bytes.skipPast(0xff)
    let code = 0xff
    while (code === 0xff) code = (yield* bytes.take(1))[0]!
    if (code !== 0) return code
  }
}

function* readFrame(bytes: ForwardBytes, marker: number, length: number): Parsing<Frame> {
  if (length < 6) throw corrupt('the JPEG has a frame header that is too short')
  const process = UNSUPPORTED_PROCESS[marker]
  if (process) throw unsupported(`${process} JPEG (SOF${marker - SOF0})`)
  const header = yield* bytes.take(length)
  const precision = header[0]!
  const height = view(header).getUint16(1)
  const width = view(header).getUint16(3)
  const channels = header[5]!
  if (precision !== 8) throw unsupported(`a JPEG of ${precision} bits a sample`)
  if (height === 0) throw unsupported('a JPEG that tells its height only after its first scan (DNL)')
  if (channels < 1 || channels > 4 || length !== 6 + 3 * channels) {
    throw corrupt(`the JPEG has a frame header of ${channels} components in ${length} bytes`)
  }
  return { width, height, channels }
}

function isFrameHeader(marker: number): boolean {
  return (marker >= SOF0 && marker <= SOF15 && ![DHT, JPG, DAC].includes(marker)) || marker === SOF55
}

function hex(marker: number): string {
  return marker.toString(16).toUpperCase().padStart(2, '0')
}

const TEM = 0x01
const SOF0 = 0xc0
const DHT = 0xc4
const JPG = 0xc8
const DAC = 0xcc
const SOF15 = 0xcf
const RST0 = 0xd0
const RST7 = 0xd7
const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const APP1 = 0xe1
const APP2 = 0xe2
const ISO_GAIN_MAP = 'urn:iso:std:iso:ts:21496:-1\0'
const XMP = 'http://ns.adobe.com/xap/1.0/\0'
const GAIN_MAP_XMP = 'http://ns.adobe.com/hdr-gain-map/1.0/'
const SOF55 = 0xf7

/** What neither the decoder nor any browser reads; baseline, extended and progressive Huffman remain. */
const UNSUPPORTED_PROCESS: Record<number, string> = {
  195: 'a lossless',
  197: 'a hierarchical',
  198: 'a hierarchical',
  199: 'a hierarchical',
  201: 'an arithmetic-coded',
  202: 'an arithmetic-coded',
  203: 'an arithmetic-coded lossless',
  205: 'an arithmetic-coded hierarchical',
  206: 'an arithmetic-coded hierarchical',
  207: 'an arithmetic-coded hierarchical',
  [SOF55]: 'a near-lossless (JPEG-LS)',
}
