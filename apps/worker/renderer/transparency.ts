import type { Canvas } from './draw.ts'

/** Decided by the pixels: many files have an alpha channel that is opaque all over. */
export function isTransparent({ channels, data }: Canvas): boolean {
  if (channels === 3) return false
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return true
  return false
}
