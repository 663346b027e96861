/**
 * How long a frame is shown: as every browser does, which take a delay of 10 ms or less (0 above all) for a slip of an
 * encoder of long ago, and show the frame for 100 ms.
 */
export function shownDelayMs(delayMs: number): number {
  return delayMs <= 10 ? 100 : delayMs
}
