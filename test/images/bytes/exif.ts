import { tiff } from './tiff.ts'

/** An EXIF block that holds an orientation, valid or not, and nothing else. */
export function exif(orientation: number, littleEndian = true): Buffer {
  return tiff([[[274, 3, orientation]]], { littleEndian })
}
