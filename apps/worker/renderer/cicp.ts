/** Code points of ITU-T H.273, with which AVIF and PNG tag their colours instead of with a profile. */
export interface Cicp {
  primaries: number
  transfer: number
}

type Matrix = readonly [Row, Row, Row]
type Row = readonly [number, number, number]

/** What a screen's light is of a signal, 0 to 1; 1 is the reference white, of which HDR has several times as much. */
export type Transfer = (signal: number) => number

/** How the tagged colours become linear light of sRGB's primaries; `curve` and `matrix` are null where they are sRGB's. */
export interface Conversion {
  curve: Transfer | null
  matrix: Matrix | null
  /** PQ or HLG: there is light beyond white, to be tone-mapped. */
  highDynamicRange: boolean
}

/** null for code points that are not known here. */
export function conversionOf({ primaries, transfer }: Cicp): Conversion | null {
  const matrix = PRIMARIES[primaries]
  const curve = TRANSFERS[transfer]
  if (matrix === undefined || curve === undefined) return null
  return { matrix, curve, highDynamicRange: transfer === PQ || transfer === HLG }
}

/** Whether the colours are sRGB, or so near to it that nobody converts them: BT.601 and BT.709 as cameras write them. */
export function isSrgb({ curve, matrix }: Conversion): boolean {
  return curve === null && matrix === null
}

/** Such as "bt2020-pq"; null for sRGB, and for code points that are not known here. */
export function tagName(cicp: Cicp): string | null {
  const conversion = conversionOf(cicp)
  if (!conversion || isSrgb(conversion)) return null
  const primaries = conversion.matrix === BT2020_TO_SRGB ? 'bt2020' : conversion.matrix ? 'p3' : 'bt709'
  return [primaries, TRANSFER_NAMES[cicp.transfer]].filter(Boolean).join('-')
}

export function srgbToLinear(signal: number): number {
  return signal <= 0.04045 ? signal / 12.92 : ((signal + 0.055) / 1.055) ** 2.4
}

export function linearToSrgb(light: number): number {
  return light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055
}

/** SMPTE ST 2084, in units of the reference white of ITU-R BT.2408. */
function pq(signal: number): number {
  const power = signal ** (32 / 2523)
  const [c1, c2, c3] = [3424 / 4096, 2413 / 128, 2392 / 128]
  return (10_000 / WHITE_NITS) * (Math.max(power - c1, 0) / (c2 - c3 * power)) ** (16_384 / 2610)
}

/** The scene's light by ITU-R BT.2100, 0 to 1; what a screen makes of it depends on all three colours. */
function hlg(signal: number): number {
  const [a, b, c] = [0.17883277, 0.28466892, 0.55991073]
  return signal <= 0.5 ? signal ** 2 / 3 : (Math.exp((signal - c) / a) + b) / 12
}

export const PQ = 16
export const HLG = 18
export const WHITE_NITS = 203

/** By H.273's table 3. BT.709's camera curve counts as sRGB's, as in every browser. */
const TRANSFERS: Record<number, Transfer | null> = {
  1: null,
  2: null,
  4: (signal) => signal ** 2.2,
  5: (signal) => signal ** 2.8,
  6: null,
  8: (signal) => signal,
  13: null,
  14: null,
  15: null,
  [PQ]: pq,
  [HLG]: hlg,
}

const TRANSFER_NAMES: Record<number, string> = {
  4: 'gamma22',
  5: 'gamma28',
  8: 'linear',
  [PQ]: 'pq',
  [HLG]: 'hlg',
}

const BT2020_TO_SRGB: Matrix = [
  [1.660491, -0.587641, -0.07285],
  [-0.12455, 1.1329, -0.008349],
  [-0.018151, -0.100579, 1.11873],
]
const P3_TO_SRGB: Matrix = [
  [1.22494, -0.22494, 0],
  [-0.042057, 1.042057, 0],
  [-0.019638, -0.078636, 1.098274],
]

/** By H.273's table 2. DCI-P3's other white is taken for D65, as it is meant to be seen as white. */
const PRIMARIES: Record<number, Matrix | null> = {
  1: null,
  2: null,
  5: null,
  6: null,
  7: null,
  9: BT2020_TO_SRGB,
  11: P3_TO_SRGB,
  12: P3_TO_SRGB,
}
