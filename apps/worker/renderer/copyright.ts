import { cleanText, textOf } from './clean-text.ts'
import { readExif } from './exif.ts'
import type { Source } from './look.ts'

/** Whose the image is, as the file says: in EXIF, else in IPTC, else in XMP. */
export interface Rights {
  copyright?: string
  artist?: string
}

export function copyrightOf({ exif, iptc, xmp }: Pick<Source, 'exif' | 'iptc' | 'xmp'>): Rights {
  const own = exif ? readExif(exif) : {}
  const copyright = own.copyright ?? fromIptc(iptc, COPYRIGHT_NOTICE) ?? fromXmp(xmp, 'rights')
  const artist = own.artist ?? fromIptc(iptc, BY_LINE) ?? fromXmp(xmp, 'creator')
  return { ...(copyright && { copyright }), ...(artist && { artist }) }
}

/** A dataset of IPTC's record 2, wherever in Photoshop's block it stands. */
function fromIptc(iptc: Buffer | undefined, dataset: number): string | null {
  const at = iptc?.indexOf(Buffer.from([0x1c, 2, dataset])) ?? -1
  if (!iptc || at < 0 || at + 5 > iptc.length) return null
  return cleanText(textOf(iptc.subarray(at + 5, at + 5 + iptc.readUInt16BE(at + 3))))
}

/** The first text of a Dublin Core property; what is looked at of it is bounded. */
function fromXmp(xmp: Buffer | undefined, name: 'rights' | 'creator'): string | null {
  const at = xmp?.indexOf(`<dc:${name}>`) ?? -1
  if (!xmp || at < 0) return null
  const found = /<rdf:li[^>]{0,200}>([^<]{1,2000})<\/rdf:li>/.exec(textOf(xmp.subarray(at, at + 4_000)))
  return found ? cleanText(unescaped(found[1]!)) : null
}

function unescaped(xml: string): string {
  return xml.replace(/&(lt|gt|amp|quot|apos);/g, (_, name: keyof typeof ENTITIES) => ENTITIES[name])
}

const ENTITIES = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const COPYRIGHT_NOTICE = 116
const BY_LINE = 80
