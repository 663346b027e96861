import { ascii, startsWith } from './bytes.ts'

/** The name, with its article where it has one, of a file that is known and not accepted; null for any other. */
export function knownOther(head: Uint8Array): string | null {
  const found = SIGNATURES.find(([, signature, offset]) => startsWith(head, signature, offset))
  if (found) return found[0]
  if (isMultipart(head)) {
    return 'a multipart form; send the bytes of the image themselves, as "curl --data-binary @file" does'
  }
  if (isBmp(head)) return 'BMP'
  if (isIcon(head)) return head[2] === 1 ? 'an icon (ICO)' : 'a cursor (CUR)'
  if (ascii(head, 0, 4) === 'RIFF' && head.length >= 12 && ascii(head, 8, 12) !== 'WEBP') {
    return `a RIFF file of another kind than WebP (${JSON.stringify(ascii(head, 8, 12).trim())})`
  }
  return null
}

/** A signature in hexadecimal pairs, or as text where it is in `"`; with the offset where it stands, 0 unless given. */
const WRITTEN: [name: string, signature: string, offset?: number][] = [
  // Camera RAW that passes for TIFF goes first; RAW that only its first directory tells is found by the TIFF parser.
  ['a camera RAW file (Canon CR2)', '49 49 2a 00 .. .. .. .. 43 52'],
  ['a camera RAW file (Phase One IIQ)', '49 49 2a 00 .. .. .. .. 49 49 49 49'],
  ['a camera RAW file (Phase One IIQ)', '4d 4d 00 2a .. .. .. .. 4d 4d 4d 4d'],
  ['a camera RAW file (Canon CRW)', '"HEAPCCDR"', 6],
  ['a camera RAW file (Fujifilm RAF)', '"FUJIFILMCCD-RAW"'],
  ['a camera RAW file (Olympus ORF)', '"IIRO"'],
  ['a camera RAW file (Olympus ORF)', '"IIRS"'],
  ['a camera RAW file (Olympus ORF)', '"MMOR"'],
  ['a camera RAW file (Panasonic RW2)', '49 49 55 00'],
  ['a camera RAW file (Minolta MRW)', '00 4d 52 4d'],
  ['a camera RAW file (Sigma X3F)', '"FOVb"'],
  ['JPEG XL', 'ff 0a'],
  ['JPEG XL', '00 00 00 0c 4a 58 4c 20 0d 0a 87 0a'],
  ['JPEG 2000 (JP2)', '00 00 00 0c 6a 50 20 20 0d 0a 87 0a'],
  ['JPEG 2000 (a codestream, J2K)', 'ff 4f ff 51'],
  ['JPEG XR', '49 49 bc 01'],
  ['PDF', '"%PDF-"'],
  ['PostScript', '"%!PS"'],
  ['PostScript (EPS)', 'c5 d0 d3 c6'],
  ['a Photoshop document (PSD)', '"8BPS"'],
  ['a GIMP image (XCF)', '"gimp xcf"'],
  ['OpenEXR', '76 2f 31 01'],
  ['Radiance HDR', '"#?RADIANCE"'],
  ['QOI', '"qoif"'],
  ['DDS', '"DDS "'],
  ['FITS', '"SIMPLE  ="'],
  ['DICOM', '"DICM"', 128],
  ['an Apple icon (ICNS)', '"icns"'],
  ['DjVu', '"AT&TFORM"'],
  ['BPG', '42 50 47 fb'],
  ['MNG', '8a 4d 4e 47'],
  ['JNG', '8b 4a 4e 47'],
  ['a Windows metafile (WMF)', 'd7 cd c6 9a'],
  ['a Windows metafile (EMF)', '20 45 4d 46', 40],
  ['a ZIP archive, or a document that is one', '50 4b 03 04'],
  ['an empty ZIP archive', '50 4b 05 06'],
  ['gzip-compressed data (SVGZ, perhaps)', '1f 8b'],
  ['a 7z archive', '37 7a bc af 27 1c'],
  ['a RAR archive', '"Rar!"'],
  ['XZ-compressed data', 'fd 37 7a 58 5a 00'],
  ['Zstandard-compressed data', '28 b5 2f fd'],
  ['bzip2-compressed data', '42 5a 68 .. 31 41 59 26 53 59'],
  ['a Matroska or WebM video', '1a 45 df a3'],
  ['an Ogg file', '"OggS"'],
  ['an MP3 file', '"ID3"'],
  ['an executable (ELF)', '7f 45 4c 46'],
]

const SIGNATURES = WRITTEN.map(([name, signature, offset]) => [name, hexOf(signature), offset] as const)

function hexOf(signature: string): string {
  if (!signature.startsWith('"')) return signature
  return [...signature.slice(1, -1)].map((letter) => letter.charCodeAt(0).toString(16)).join(' ')
}

/** A form as `curl -F` sends it: the boundary's line, then a part's headers. */
function isMultipart(head: Uint8Array): boolean {
  return /^--[^\r\n]{1,70}\r?\n(?:[\w-]+:[^\r\n]*\r?\n)*?content-disposition:/i.test(ascii(head))
}

/** "BM" also begins words: the reserved bytes and the length of a header that exists have to follow. */
function isBmp(head: Uint8Array): boolean {
  return startsWith(head, '42 4d .. .. .. .. 00 00 00 00') && BMP_HEADERS.includes(head[14] ?? 0)
}

const BMP_HEADERS = [12, 16, 40, 52, 56, 64, 108, 124]

function isIcon(head: Uint8Array): boolean {
  const counted = (head[4] ?? 0) + (head[5] ?? 0) > 0
  return (startsWith(head, '00 00 01 00') || startsWith(head, '00 00 02 00')) && counted && head[9] === 0
}
