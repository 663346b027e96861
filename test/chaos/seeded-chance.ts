/** Chance that a seed replays: the same faults in the same order. When they strike is the machine's. */
export interface Chance {
  /** Uniform in [0, 1). */
  next(): number
  between(least: number, most: number): number
  pick<T>(from: readonly T[]): T
}

/** Mulberry32. */
export function seededChance(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    between: (least, most) => least + next() * (most - least),
    pick: (from) => from[Math.floor(next() * from.length)]!,
  }
}
