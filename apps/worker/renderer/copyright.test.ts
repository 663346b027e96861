import { describe, expect, it } from 'vitest'
import { copyrightOf } from './copyright.ts'
import { exifBlock } from './testing/exif-block.ts'

const none = { exif: undefined, iptc: undefined, xmp: undefined }

function iptc(dataset: number, text: string): Buffer {
  const value = Buffer.from(text)
  return Buffer.concat([
    Buffer.from('8BIM\x04\x04\0\0'),
    Buffer.from([0x1c, 2, dataset, 0, value.length]),
    value,
  ])
}

const xmp = Buffer.from(
  '<dc:creator><rdf:Seq><rdf:li>Ada</rdf:li></rdf:Seq></dc:creator>' +
    '<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© Ada &amp; Co</rdf:li></rdf:Alt></dc:rights>',
)

describe('whose an image is', () => {
  it('stands in EXIF, in IPTC or in XMP, in this order', () => {
    const exif = exifBlock({ copyright: 'by EXIF', artist: 'E' })
    expect(copyrightOf({ exif, iptc: iptc(116, 'by IPTC'), xmp })).toEqual({
      copyright: 'by EXIF',
      artist: 'E',
    })
    expect(copyrightOf({ ...none, iptc: iptc(116, 'by IPTC'), xmp })).toEqual({
      copyright: 'by IPTC',
      artist: 'Ada',
    })
    expect(copyrightOf({ ...none, iptc: iptc(80, 'Ida') })).toEqual({ artist: 'Ida' })
    expect(copyrightOf({ ...none, xmp })).toEqual({ copyright: '© Ada & Co', artist: 'Ada' })
  })

  it('is unknown where nothing says it, or nothing that can be read', () => {
    expect(copyrightOf(none)).toEqual({})
    expect(
      copyrightOf({
        exif: Buffer.from('Exif'),
        iptc: Buffer.from([0x1c, 2, 116]),
        xmp: Buffer.from('<dc:rights>'),
      }),
    ).toEqual({})
  })
})
