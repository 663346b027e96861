import { TAG, type TiffEntry } from '../tiff-directory.ts'

/**
 * Camera RAW in TIFF's clothes: its first directory is a small preview, which a TIFF decoder would show as the
 * picture, or sensor data that it does not understand.
 *
 * @param make the camera's maker, where the file told it in time
 * @returns the name of the file's kind, or null for an ordinary TIFF
 */
export function rawName(tags: Map<number, TiffEntry>, make: string | undefined): string | null {
  if (tags.has(TAG.dngVersion)) return 'a camera RAW file (DNG)'
  const value = (tag: number) => tags.get(tag)?.value ?? 0
  const reduced = (value(TAG.subfileType) & 1) === 1
  const small = value(TAG.width) * value(TAG.height) <= PREVIEW_PIXELS
  const previewOnly = tags.has(TAG.subDirectories) && (reduced || (small && tags.has(TAG.make)))
  const sensorData =
    SENSOR_COLOURS.includes(value(TAG.photometric)) || RAW_COMPRESSION.includes(value(TAG.compression))
  if (!previewOnly && !sensorData && !tags.has(TAG.kodakDirectory)) return null
  const kind = KINDS.find(([maker]) => make?.toUpperCase().startsWith(maker))?.[1]
  return kind
    ? `a camera RAW file (${kind})`
    : 'a camera RAW file, of which a TIFF decoder shows only the preview'
}

/** No camera makes pictures this small any more; previews of 96 × 64 to 320 × 240 are usual. */
const PREVIEW_PIXELS = 320 * 240

/** A colour filter array, and linear RAW. */
const SENSOR_COLOURS = [32_803, 34_892]

/** Sony ARW, Nikon NEF, Kodak DCR and KDC, Samsung SRW, Pentax PEF. */
const RAW_COMPRESSION = [32_767, 32_769, 32_770, 34_713, 65_000, 65_535, 262]

const KINDS: [maker: string, kind: string][] = [
  ['NIKON', 'Nikon NEF'],
  ['SONY', 'Sony ARW'],
  ['KODAK', 'Kodak KDC or DCR'],
  ['EASTMAN KODAK', 'Kodak KDC or DCR'],
  ['PENTAX', 'Pentax PEF'],
  ['RICOH', 'Pentax PEF'],
  ['SAMSUNG', 'Samsung SRW'],
  ['OLYMPUS', 'Olympus ORF'],
  ['CANON', 'Canon'],
  ['HASSELBLAD', 'Hasselblad 3FR'],
  ['SEIKO EPSON', 'Epson ERF'],
  ['MAMIYA', 'Mamiya MEF'],
  ['LEAF', 'Leaf MOS'],
  ['LEICA', 'Leica'],
]
