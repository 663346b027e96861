/**
 * A JPEG as its writer meant it: without the bytes that stand between its segments, and with an end marker. Segments and
 * picture data stay as they are, so that a decoder judges them as before. What follows the end marker is left out.
 *
 * @param jpeg begins with SOI
 * @returns `endMissing`: the file ended before its end marker
 */
export function mendJpeg(jpeg: Buffer): { mended: Buffer; endMissing: boolean } {
  const kept = [jpeg.subarray(0, 2)]
  let at = 2
  for (;;) {
    const marker = findMarker(jpeg, at, isAnyMarker)
    const code = jpeg[marker + 1]
    if (code === undefined || code === EOI) {
      kept.push(Buffer.from([0xff, EOI]))
      return { mended: Buffer.concat(kept), endMissing: code === undefined }
    }
    at = marker + 2
    if (standsAlone(code)) continue
    const length = at + 2 <= jpeg.length ? jpeg.readUInt16BE(at) : 2
    at += length
    // A scan's data goes on until a marker that is not part of it.
    if (code === SOS) at = findMarker(jpeg, at, isMarkerInScan)
    kept.push(jpeg.subarray(marker, at))
  }
}

/** The offset of the next FF and code that `isMarker`; the file's length when there is none. */
function findMarker(jpeg: Buffer, from: number, isMarker: (code: number) => boolean): number {
  for (let at = jpeg.indexOf(0xff, from); at >= 0 && at + 1 < jpeg.length; at = jpeg.indexOf(0xff, at + 1)) {
    if (isMarker(jpeg[at + 1]!)) return at
  }
  return jpeg.length
}

/** FF FF is filling, FF 00 a byte of data. */
function isAnyMarker(code: number): boolean {
  return code !== 0xff && code !== 0x00
}

function isMarkerInScan(code: number): boolean {
  return isAnyMarker(code) && !isRestart(code)
}

function standsAlone(code: number): boolean {
  return isRestart(code) || code === SOI || code === TEM
}

function isRestart(code: number): boolean {
  return code >= 0xd0 && code <= 0xd7
}

const TEM = 0x01
const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
