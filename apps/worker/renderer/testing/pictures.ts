import sharp from 'sharp'

/** What an image shows, over white: red, green and blue of each pixel. */
export interface Shown {
  width: number
  height: number
  rgb: Buffer
}

export async function shown(encoded: Uint8Array): Promise<Shown> {
  const { data, info } = await sharp(encoded)
    .flatten({ background: '#fff' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({
      resolveWithObject: true,
    })
  return { width: info.width, height: info.height, rgb: data }
}

/** The mean of each colour. */
export function meanOf({ rgb }: Shown): number[] {
  const sums = [0, 0, 0]
  rgb.forEach((value, i) => {
    sums[i % 3]! += value
  })
  return sums.map((sum) => Math.round(sum / (rgb.length / 3)))
}

/** The mean difference of all samples, 0 to 255; infinite for pictures of other sizes. */
export function difference(a: Shown, b: Shown): number {
  if (a.width !== b.width || a.height !== b.height) return Number.POSITIVE_INFINITY
  return a.rgb.reduce((sum, value, i) => sum + Math.abs(value - b.rgb[i]!), 0) / a.rgb.length
}
