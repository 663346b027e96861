import { BadDerivative, slice } from './part.ts'

/**
 * Refuses an EXIF block with anything but a copyright notice and what our encoder puts beside one: no place, no thumbnail
 * (a second directory), no camera, no notes.
 *
 * @param exif with or without an "Exif" mark, and the offset that stands before it in an AVIF
 */
export function checkExif(exif: Buffer): void {
  const mark = exif.indexOf('Exif\0\0', 0, 'latin1')
  const tiff = mark >= 0 && mark <= 4 ? exif.subarray(mark + 6) : exif
  if (tiff.toString('latin1', 0, 4) !== 'II*\0') throw new BadDerivative('has EXIF in an unknown form')
  const sub = checkDirectory(tiff, tiff.readUInt32LE(4), IMAGE_TAGS)
  if (sub !== null) checkDirectory(tiff, sub, EXIF_TAGS)
}

/** Where the EXIF directory stands, if the directory at `at` points to one. */
function checkDirectory(tiff: Buffer, at: number, allowed: ReadonlySet<number>): number | null {
  const entries = slice(tiff, at, at + 2).readUInt16LE()
  const end = at + 2 + 12 * entries
  let sub: number | null = null
  for (let entry = at + 2; entry < end; entry += 12) {
    const tag = slice(tiff, entry, entry + 12).readUInt16LE()
    if (!allowed.has(tag)) throw new BadDerivative(`has the EXIF field ${tag}`)
    if (tag === EXIF_DIRECTORY) sub = tiff.readUInt32LE(entry + 8)
    if (tag === ORIENTATION && tiff.readUInt16LE(entry + 8) !== 1) throw new BadDerivative('is to be turned')
  }
  if (slice(tiff, end, end + 4).readUInt32LE() !== 0) throw new BadDerivative('has an EXIF thumbnail')
  return sub
}

const ORIENTATION = 0x0112
const EXIF_DIRECTORY = 0x8769
/** Orientation, resolution and its unit, artist, position of chroma samples, copyright. */
const IMAGE_TAGS = new Set([ORIENTATION, 0x011a, 0x011b, 0x0128, 0x013b, 0x0213, 0x8298, EXIF_DIRECTORY])
/** Version, components, FlashPix version, colour space, width and height. */
const EXIF_TAGS = new Set([0x9000, 0x9101, 0xa000, 0xa001, 0xa002, 0xa003])
