import type { Limits } from '../limits.ts'
import { ascii, startsWith, view } from './bytes.ts'
import { knownOther } from './known-others.ts'
import { textKind } from './text-kind.ts'
import { ImageRefused, type ImageType, unsupported } from './verdict.ts'

/**
 * The type of an image by the first bytes of its file, never by what the client calls it.
 *
 * @param head the first {@link HEAD_BYTES} of the file, or all of a shorter one
 * @throws {ImageRefused} when it is none of the accepted types, naming what it is instead
 */
export function identify(head: Uint8Array, { acceptSvg = false }: Pick<Limits, 'acceptSvg'> = {}): ImageType {
  if (head.length === 0) throw new ImageRefused('empty_body', 'the body is empty')
  const other = knownOther(head)
  if (other) throw unsupported(other)
  if (startsWith(head, 'ff d8 ff')) return 'jpeg'
  // Four bytes, not all eight: a signature whose line ends were converted is a damaged PNG, not an unknown type.
  if (startsWith(head, '89 50 4e 47')) return 'png'
  if (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'WEBP') return 'webp'
  if (/^GIF8[79]a/.test(ascii(head, 0, 6))) return 'gif'
  if (ascii(head, 4, 8) === 'ftyp') return identifyByBrands(head)
  if (/^(II[*+]\0|MM\0[*+])/.test(ascii(head, 0, 4))) return 'tiff'
  const text = textKind(head)
  if (text === 'SVG' && acceptSvg) return 'svg'
  throw unsupported(text ?? `of no type that is known here (it begins with ${hex(head.subarray(0, 8))})`)
}

/** HEIF is one container for several codecs, and for films: the brands say which, the items (later) for certain. */
function identifyByBrands(head: Uint8Array): ImageType {
  const size = view(head).getUint32(0)
  const end = Math.min(size, head.length)
  const major = ascii(head, 8, 12)
  const brands = new Set([major])
  for (let at = 16; at + 4 <= end; at += 4) brands.add(ascii(head, at, at + 4))
  if (major === 'avis') throw unsupported('an AVIF image sequence')
  if (major === 'crx ') throw unsupported('a camera RAW file (Canon CR3)')
  if (brands.has('avif')) return 'avif'
  const heic = [...brands].find((brand) => HEIC_BRANDS.includes(brand))
  if (heic) throw unsupported(`HEIC, an image of codec HEVC (brand ${heic})`)
  if (brands.has('jxl ')) throw unsupported('JPEG XL')
  if (brands.has('mif1') || brands.has('miaf')) return 'avif'
  if (brands.has('msf1')) throw unsupported('a HEIF image sequence')
  throw unsupported(`a video or another ISO media file (brand ${JSON.stringify(major.trim())})`)
}

const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs']

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
}
