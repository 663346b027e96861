import { type Cicp, type Conversion, HLG, linearToSrgb, srgbToLinear, WHITE_NITS } from './cicp.ts'

/**
 * Pixels of tagged colours as sRGB of 8 bits. What is brighter than white is tone-mapped as browsers do it: by Reinhard's
 * curve, extended to a peak of {@link PEAK_NITS}, of the brightest of the three colours, so that no hue changes. Colours
 * outside of sRGB are moved to its edge.
 *
 * @param pixels 16 bits a sample, 3 or 4 channels; a fourth is alpha
 * @returns `clipped`: the share of pixels whose colour lay outside, 0 to 1
 */
export function toSrgb(
  pixels: Uint16Array,
  channels: 3 | 4,
  { transfer }: Cicp,
  { curve, matrix, highDynamicRange }: Conversion,
): { data: Buffer; clipped: number } {
  const light = tabulate(curve ?? srgbToLinear)
  const [toRed, toGreen, toBlue] = matrix ?? IDENTITY
  const data = Buffer.allocUnsafe(pixels.length)
  let outside = 0
  for (let at = 0; at < pixels.length; at += channels) {
    let red = light[pixels[at]!]!
    let green = light[pixels[at + 1]!]!
    let blue = light[pixels[at + 2]!]!
    if (highDynamicRange) {
      const screen = transfer === HLG ? hlgScreen(red, green, blue) : 1
      const brightest = Math.max(red, green, blue) * screen
      const gain = screen * toneGain(brightest)
      red *= gain
      green *= gain
      blue *= gain
    }
    const r = toRed[0] * red + toRed[1] * green + toRed[2] * blue
    const g = toGreen[0] * red + toGreen[1] * green + toGreen[2] * blue
    const b = toBlue[0] * red + toBlue[1] * green + toBlue[2] * blue
    if (Math.min(r, g, b) < -OUTSIDE || Math.max(r, g, b) > 1 + OUTSIDE) outside++
    data[at] = srgbByte(r)
    data[at + 1] = srgbByte(g)
    data[at + 2] = srgbByte(b)
    if (channels === 4) data[at + 3] = pixels[at + 3]! >> 8
  }
  return { data, clipped: outside / (pixels.length / channels) }
}

/** From the scene's light to a screen's of {@link PEAK_NITS}, by ITU-R BT.2100: a gain by the pixel's luminance. */
function hlgScreen(red: number, green: number, blue: number): number {
  const luminance = 0.2627 * red + 0.678 * green + 0.0593 * blue
  return PEAK * Math.max(luminance, 1e-6) ** 0.2
}

function toneGain(brightest: number): number {
  return (1 + brightest / PEAK ** 2) / (1 + brightest)
}

function srgbByte(light: number): number {
  return SRGB_BYTES[light <= 0 ? 0 : light >= 1 ? STEPS : Math.round(light * STEPS)]!
}

/** A curve at all of its 65,536 points: cheaper than powers of every sample from a small picture on. */
function tabulate(curve: (signal: number) => number): Float32Array {
  return Float32Array.from({ length: 65_536 }, (_, i) => curve(i / 65_535))
}

/** Fine enough for the darkest bytes, which lie 5 steps apart. */
const STEPS = 16_384
const SRGB_BYTES = Uint8Array.from({ length: STEPS + 1 }, (_, i) => Math.round(255 * linearToSrgb(i / STEPS)))

/** What masters of films and cameras' HLG reach as a rule. */
const PEAK_NITS = 1_000
const PEAK = PEAK_NITS / WHITE_NITS

/** Rounding goes this far out of sRGB. */
const OUTSIDE = 0.004

const IDENTITY = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
] as const
