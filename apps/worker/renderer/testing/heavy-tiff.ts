import { type TiffField, tiff, tiffImage } from '../../../../test/images/bytes/tiff.ts'

/**
 * A megabyte that takes minutes to decode, and hundreds of megabytes meanwhile: rows of four tiles, all of them the same
 * bytes. A renderer that is given it has to allow as many pixels.
 */
export function heavyTiff(rows = 1_000): Buffer {
  const tiles = ACROSS * rows
  const tile = packedTile()
  const image = tiffImage(TILE * ACROSS, TILE * rows).map(
    ([tag, type, value]): TiffField => [tag, type, tag === 259 ? PACKBITS : value],
  )
  const layout: TiffField[] = [
    [322, 4, TILE],
    [323, 4, TILE],
    [324, 4, Array<number>(tiles).fill(HEADER_BYTES)],
    [325, 4, Array<number>(tiles).fill(tile.length)],
  ]
  return tiff([[...image, ...layout]], { before: tile })
}

/** Runs of 128 times the same byte. */
function packedTile(): Buffer {
  return Buffer.alloc((TILE * TILE * 3 * 2) / 128, Buffer.from([0x81, 0x66]))
}

const TILE = 4_096
const ACROSS = 4
const PACKBITS = 32_773
const HEADER_BYTES = 8
