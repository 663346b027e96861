import { ascii, view } from './bytes.ts'
import { entryBytes, readEntry, TAG } from './tiff-directory.ts'

/** How much of an EXIF block is looked at: its first directory stands at its beginning. */
export const EXIF_BYTES = 65_536

/**
 * The orientation that an EXIF block asks for; 1 when it has none, or one that does not exist.
 *
 * @param exif from its "II" or "MM" on, or from an "Exif" mark before that; perhaps cut off
 */
export function exifOrientation(exif: Uint8Array): number {
  const tiff = ascii(exif, 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif
  const order = ascii(tiff, 0, 2)
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return 1
  const layout = { littleEndian: order === 'II', big: false }
  const numbers = view(tiff)
  const directory = numbers.getUint32(4, layout.littleEndian)
  if (directory + 2 > tiff.length) return 1
  const size = entryBytes(layout)
  let entries = numbers.getUint16(directory, layout.littleEndian)
  for (let at = directory + 2; entries-- > 0 && at + size <= tiff.length; at += size) {
    const entry = readEntry(tiff.subarray(at, at + size), layout)
    if (entry.tag === TAG.orientation) return validOrientation(entry.value)
  }
  return 1
}

/** An orientation that does not exist is none: browsers show such an image as it is stored. */
export function validOrientation(value: number | undefined): number {
  return value !== undefined && value >= 1 && value <= 8 ? value : 1
}

/** Width and height as seen: orientations 5 to 8 lay the image on its side. */
export function upright(
  width: number,
  height: number,
  orientation: number,
): { width: number; height: number } {
  return orientation >= 5 ? { width: height, height: width } : { width, height }
}
