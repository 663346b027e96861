/** What is read of an ICC profile; conversion itself is the decoder's. */
export interface IccProfile {
  /** Its own name, from the tag "desc"; null when it has none. */
  name: string | null
  /** The colours that it describes. */
  space: 'rgb' | 'grey' | 'cmyk' | 'other'
  /** Whether it describes colours that sRGB has not: by its primaries, where it has any. */
  widerThanSrgb: boolean
}

/** null for what is no profile that a decoder could use: damaged, cut off, or without what its kind needs. */
export function readIcc(icc: Buffer): IccProfile | null {
  try {
    return read(icc)
  } catch (error) {
    // Every offset in it is a stranger's: one that leads out of it says that it is broken.
    if (error instanceof RangeError) return null
    throw error
  }
}

function read(icc: Buffer): IccProfile | null {
  if (icc.toString('latin1', 36, 40) !== 'acsp' || icc.readUInt32BE(0) > icc.length) return null
  const space = SPACES[icc.toString('latin1', 16, 20)] ?? 'other'
  const tags = readTags(icc)
  const has = (...names: string[]) => names.every((name) => tags.has(name))
  const usable =
    has('A2B0') ||
    (space === 'rgb' && has('rXYZ', 'gXYZ', 'bXYZ', 'rTRC', 'gTRC', 'bTRC')) ||
    (space === 'grey' && has('kTRC'))
  if (!usable || !curvesAreCurves(tags)) return null
  const description = tags.get('desc')
  return {
    name: description ? text(description) : null,
    space,
    widerThanSrgb: space === 'rgb' && has('rXYZ', 'gXYZ', 'bXYZ') && isWider(tags),
  }
}

function readTags(icc: Buffer): Map<string, Buffer> {
  const tags = new Map<string, Buffer>()
  const count = icc.readUInt32BE(128)
  if (count > MAX_TAGS) throw new RangeError('too many tags')
  for (let at = 132; at < 132 + 12 * count; at += 12) {
    const offset = icc.readUInt32BE(at + 4)
    const end = offset + icc.readUInt32BE(at + 8)
    if (end > icc.length || end - offset < 8) throw new RangeError('a tag out of the profile')
    tags.set(icc.toString('latin1', at, at + 4), icc.subarray(offset, end))
  }
  return tags
}

function curvesAreCurves(tags: Map<string, Buffer>): boolean {
  return ['rTRC', 'gTRC', 'bTRC', 'kTRC'].every((name) => {
    const tag = tags.get(name)
    return !tag || ['curv', 'para'].includes(tag.toString('latin1', 0, 4))
  })
}

/** "desc" as version 2 has it, or the first of the texts of version 4's "mluc". */
function text(tag: Buffer): string | null {
  const kind = tag.toString('latin1', 0, 4)
  if (kind === 'desc') return tag.toString('latin1', 12, 12 + tag.readUInt32BE(8)).replace(/\0.*/s, '')
  if (kind !== 'mluc' || tag.readUInt32BE(8) === 0) return null
  const offset = tag.readUInt32BE(24)
  const utf16 = Buffer.from(tag.subarray(offset, offset + (tag.readUInt32BE(20) & ~1)))
  return utf16.swap16().toString('utf16le')
}

/** Whether a primary lies outside of sRGB's triangle: its share of one of sRGB's primaries is then below nothing. */
function isWider(tags: Map<string, Buffer>): boolean {
  return ['rXYZ', 'gXYZ', 'bXYZ'].some((name) => {
    const tag = tags.get(name)!
    const [x, y, z] = [8, 12, 16].map((at) => tag.readInt32BE(at) / 65_536) as [number, number, number]
    return XYZ_D50_TO_SRGB.some((row) => row[0] * x + row[1] * y + row[2] * z < -OUTSIDE)
  })
}

/** Profiles of sRGB round their primaries; Display P3 lies 0.04 to 0.22 outside. */
const OUTSIDE = 0.01

const XYZ_D50_TO_SRGB = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.033454],
  [0.0719453, -0.2289914, 1.4052427],
] as const

const SPACES: Record<string, IccProfile['space']> = { 'RGB ': 'rgb', GRAY: 'grey', CMYK: 'cmyk' }
const MAX_TAGS = 1_000
