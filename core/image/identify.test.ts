import { describe, expect, it } from 'vitest'
import { box, fileType } from '../../test/images/bytes/avif.ts'
import { refusalOf } from '../../test/images/inspect.ts'
import { identify } from './identify.ts'

const hex = (digits: string) => Buffer.concat([Buffer.from(digits, 'hex'), Buffer.alloc(200)])
const brands = (major: string, ...compatible: string[]) =>
  Buffer.concat([fileType(major, ...compatible), box('mdat')])
const text = (content: string) => Buffer.from(content)

const NAMED: [what: string, name: RegExp, head: Buffer][] = [
  ['HEIC', /HEIC.*HEVC/, brands('heic', 'mif1', 'heic')],
  ['HEIC of 10 bits', /HEIC.*HEVC/, brands('heix', 'mif1', 'heix')],
  ['HEIC under a neutral brand', /HEIC.*HEVC/, brands('mif1', 'mif1', 'heic')],
  ['a HEIC sequence', /HEIC.*HEVC/, brands('hevc', 'msf1', 'hevc')],
  ['an AVIF sequence', /AVIF image sequence/, brands('avis', 'avif', 'avis', 'msf1')],
  ['JPEG XL as a codestream', /JPEG XL/, hex('ff0a')],
  ['JPEG XL in its container', /JPEG XL/, hex('0000000c4a584c200d0a870a')],
  ['JPEG 2000 in its container', /JPEG 2000 \(JP2\)/, hex('0000000c6a5020200d0a870a')],
  ['JPEG 2000 as a codestream', /J2K/, hex('ff4fff51')],
  ['PDF', /PDF/, text('%PDF-1.4\n')],
  ['BMP', /BMP/, hex('424d36030000000000003600000028000000')],
  ['ICO', /ICO/, hex('0000010001001010000001002000')],
  ['CUR', /CUR/, hex('0000020001001010000001002000')],
  ['PSD', /PSD/, hex('384250530001')],
  ['Canon CR2', /Canon CR2/, hex('49492a001000000043520200')],
  ['Canon CR3', /Canon CR3/, brands('crx ', 'crx ', 'isom')],
  ['Fujifilm RAF', /Fujifilm RAF/, text('FUJIFILMCCD-RAW 0201FF389501')],
  ['Olympus ORF', /Olympus ORF/, hex('4949524f08000000')],
  ['Panasonic RW2', /Panasonic RW2/, hex('4949550018000000')],
  ['SVG', /SVG/, text('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  [
    'SVG behind a prologue',
    /SVG/,
    text('\uFEFF<?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg [<!ENTITY a "b">]>\n<svg/>'),
  ],
  ['SVG in UTF-16', /SVG/, Buffer.from('\uFEFF<?xml version="1.0"?><svg/>', 'utf16le')],
  ['gzip', /gzip.*SVGZ/, hex('1f8b0800')],
  ['HTML', /HTML/, text('\n <!doctype HTML><p>')],
  ['XML', /XML/, text('<?xml version="1.0"?><rss/>')],
  ['ZIP', /ZIP/, hex('504b0304')],
  ['JSON', /JSON/, text('{"error":"not found"}')],
  ['plain text', /plain text/, text('BM is how this text begins, and it is no bitmap: ä, ö, ü.')],
  [
    'a form',
    /multipart form/,
    text('--x\r\nContent-Type: image/png\r\ncontent-disposition: form-data\r\n\r\n\x89PNG'),
  ],
  ['a data: URL', /data: URL/, text('data:image/png;base64,iVBORw0KGgo=')],
  ['a film', /video.*"isom"/, brands('isom', 'isom', 'avc1')],
  ['a RIFF file that is no WebP', /RIFF.*"WAVE"/, text('RIFF\0\0\0\0WAVEfmt ')],
  ['bytes of no known kind', /begins with 01 02 03 00/, hex('010203')],
]

describe('a file of another type', () => {
  it.each(NAMED)('is refused by its name: %s', (_, name, head) => {
    const { status, code, message } = refusalOf(head)
    expect({ status, code }).toEqual({ status: 415, code: 'unsupported_type' })
    expect(message).toMatch(name)
    expect(message).toMatch(/accepted are JPEG, PNG, WebP, GIF, AVIF and TIFF$/)
  })

  it('is an error of its own when there are no bytes at all', () => {
    expect(refusalOf(Buffer.alloc(0))).toMatchObject({ status: 400, code: 'empty_body' })
  })
})

describe('an accepted type', () => {
  it.each([
    ['jpeg', hex('ffd8ffe0')],
    ['png', hex('89504e470d0a1a0a')],
    ['webp', text('RIFF\x08\0\0\0WEBPVP8L <svg>')],
    ['gif', text('GIF87a')],
    ['gif', text('GIF89a')],
    ['avif', brands('avif', 'mif1')],
    ['avif', brands('mif1', 'avif', 'heic')],
    ['avif', brands('mif1', 'miaf')],
    ['tiff', hex('49492a0008000000')],
    ['tiff', hex('4d4d002a00000008')],
    ['tiff', hex('49492b0008000000')],
    ['tiff', hex('4d4d002b00080000')],
  ])('is known by its first bytes: %s', (type, head) => {
    expect(identify(head)).toBe(type)
  })
})
