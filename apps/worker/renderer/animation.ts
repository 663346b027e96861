import { shownDelayMs } from '../../../core/image/animation-delay.ts'

/** How long each frame of an output is shown, in milliseconds: as in the file, up to the longest that can be written. */
export function outputDelays(delaysMs: readonly number[]): number[] {
  return delaysMs.map((ms) => Math.min(shownDelayMs(ms), MAX_DELAY_MS))
}

/**
 * The same in the hundredths of a second that GIF counts, in milliseconds still. The ends of the frames are rounded, not
 * their lengths: rounding errors do not add up, and the sum is kept to 5 ms.
 */
export function inHundredths(delaysMs: readonly number[]): number[] {
  let end = 0
  let roundedEnd = 0
  return delaysMs.map((ms) => {
    end += ms
    const begin = roundedEnd
    // 20 ms at least: browsers take 10 for 100.
    roundedEnd = Math.max(begin + 20, 10 * Math.round(end / 10))
    return roundedEnd - begin
  })
}

/** Of the encoder. */
const MAX_DELAY_MS = 65_535
