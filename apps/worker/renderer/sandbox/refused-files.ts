/**
 * One small file of each type that is not to be decoded, to be tried before a stranger's is: those that libvips can be
 * built to read, and the best known of the many that ImageMagick reads, to which libvips can be built to turn.
 */
export const REFUSED_FILES: Record<string, Buffer> = {
  SVG: text('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'),
  PDF: text(
    '%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj ' +
      '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>\n%%EOF\n',
  ),
  PostScript: text('%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n%%EOF\n'),
  HEIC: base64(
    'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAXxtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAA' +
      'AAAAACJpbG9jAAAAAERAAAEAAQAAAAABoAABAAAAAAAAACUAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAA' +
      'AA5waXRtAAAAAAABAAAA/GlwcnAAAADcaXBjbwAAAHVodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNw' +
      'AAADAJAAAAMAAAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm4CGgwIAAAAyAAAADAIRiAAEABkQBwXPB' +
      'iQAAABNjb2xybmNseAABAA0ABoAAAAAUaXNwZQAAAAAAAABAAAAAQAAAAChjbGFwAAAAEAAAAAEAAAAQAAAAAf///9AAAAAC' +
      '////0AAAAAIAAAAQcGl4aQAAAAADCAgIAAAAGGlwbWEAAAAAAAAAAQABBYECAwWEAAAALW1kYXQAAAAhKAGvBBITDOD46cJo' +
      'Lz/FqVKU8n7QqyvjSZ93sRiSqf+g',
  ),
  'JPEG XL': base64('/woAEBAJCAQBACwASxiLFcJBAR6AIAA'),
  'JPEG 2000': base64(
    'AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAAQAAAAEAAwcHAAAAAAAPY29scgEA' +
      'AAAAABAAAACVanAyY/9P/1EALwAAAAAAAQAAAAEAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAAB' +
      'AAAEBAAB/1wABEBA/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAAHQAB/5PPtAgET8Pn' +
      'BAlvz7QIBs//2Q',
  ),
  'JPEG XR': base64(
    'SUm8ASAAAAAkw91vA07+S7GFPXd2jckNAAAAAAAAAAAIAAG8AQAQAAAACAAAAAK8BAABAAAAAAAAAIC8BAABAAAAAQAAAIG8' +
      'BAABAAAAAQAAAIK8CwABAAAAAADAQoO8CwABAAAAAADAQsC8BAABAAAAhgAAAMG8BAABAAAARAAAAAAAAABXTVBIT1RPABEA' +
      'wHEAAAAAYADAAAAMAAAAwAAAAAAEb/8AAQAAAQDwBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAI5AA',
  ),
  OpenEXR: base64(
    'di8xAQIAAABjaGFubmVscwBjaGxpc3QAEwAAAFkAAQAAAAAAAAABAAAAAQAAAABjb21wcmVzc2lvbgBjb21wcmVzc2lvbgAB' +
      'AAAAAGRhdGFXaW5kb3cAYm94MmkAEAAAAAAAAAAAAAAAAAAAAAAAAABkaXNwbGF5V2luZG93AGJveDJpABAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAbGluZU9yZGVyAGxpbmVPcmRlcgABAAAAAHBpeGVsQXNwZWN0UmF0aW8AZmxvYXQABAAAAAAAgD9zY3JlZW5X' +
      'aW5kb3dDZW50ZXIAdjJmAAgAAAAAAAAAAAAAAHNjcmVlbldpbmRvd1dpZHRoAGZsb2F0AAQAAAAAAIA/AB0BAAAAAAAAAAAA' +
      'AAIAAAAAOA',
  ),
  'Radiance HDR': base64('Iz9SQURJQU5DRQpGT1JNQVQ9MzItYml0X3JsZV9yZ2JlCgotWSAxICtYIDEKoKCghw'),
  BMP: base64('Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAADEDgAAxA4AAAAAAAAAAAAAMmTIAA'),
  ICO: base64('AAABAAEAAQEAAAAAGAAtAAAAFgAAACgAAAABAAAAAgAAAAEAGAAAAAAABAAAAMQOAADEDgAAAAAAAAAAAAAyZMgAAA'),
  TGA: base64('AAACAAAAAAAAAAAAAQABABgAMmTIAAAAAAAAAABUUlVFVklTSU9OLVhGSUxFLgA'),
  PCX: base64(
    'CgUBCAAAAAAAAAAAZABkAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP///////////////////////////////wADAgABAAEA' +
      'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADByABkADIA',
  ),
  QOI: base64('cW9pZgAAAAEAAAABAwD+UFBQAAAAAAAAAAE'),
  PSD: hex('384250530001000000000000000300000001000000010008000300000000000000000000000000000000'),
  PBM: text('P1\n1 1\n1\n'),
  PGM: text('P5\n1 1\n255\n '),
  PPM: text('P6\n1 1\n255\n   '),
  PFM: text('PF\n1 1\n-1\n'.padEnd(22)),
  CSV: text('1,2\n3,4\n'),
  'a matrix as text': text('2 2\n1 2\n3 4\n'),
  VIPS: hex(
    'b6a6f208010000000100000003000000080000000000000000000000160000000000803f0000803f000000000000000000000000000000000000000000000000888888',
  ),
  FITS: fits(
    'SIMPLE  =                    T',
    'BITPIX  =                    8',
    'NAXIS   =                    0',
    'END',
  ),
  Analyze: analyze(),
  MATLAB: matlab(),
  XPM: text('/* XPM */\nstatic char *x[] = {"1 1 1 1", "a c #888888", "a"};\n'),
  XBM: text('#define x_width 1\n#define x_height 1\nstatic char x_bits[] = { 0x01 };\n'),
  MVG: text('push graphic-context\nviewbox 0 0 9 9\npop graphic-context\n'),
}

function text(content: string): Buffer {
  return Buffer.from(content)
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, 'hex')
}

function base64(letters: string): Buffer {
  return Buffer.from(letters, 'base64')
}

/** A header of 80 letters a card, in blocks of 2,880. */
function fits(...cards: string[]): Buffer {
  return text(
    cards
      .map((card) => card.padEnd(80))
      .join('')
      .padEnd(2_880),
  )
}

/** The header of one pixel; its data would be in another file. */
function analyze(): Buffer {
  const header = Buffer.alloc(348)
  header.writeInt32LE(348, 0)
  header.writeInt32LE(16_384, 32)
  header.write('r', 38)
  ;[2, 1, 1, 1].forEach((size, i) => {
    header.writeInt16LE(size, 40 + 2 * i)
  })
  header.writeInt16LE(2, 70)
  header.writeInt16LE(8, 72)
  return header
}

/** A variable `x` that is 1 × 1. */
function matlab(): Buffer {
  const words = [14, 56, 6, 8, 6, 0, 5, 8, 1, 1, 0x10001, 0x78, 9, 8, 0, 0x3ff00000]
  const file = Buffer.alloc(128 + 4 * words.length, ' ')
  file.write('MATLAB 5.0 MAT-file')
  file.writeUInt16LE(0x0100, 124)
  file.write('IM', 126)
  words.forEach((word, i) => {
    file.writeUInt32LE(word, 128 + 4 * i)
  })
  return file
}
