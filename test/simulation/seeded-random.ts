import type { Random } from '../../core/ports/random.ts'

/** Chance that replays: the same seed gives the same sequence, on every machine. */
export interface SeededRandom extends Random {
  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number
  /** True with `probability`; asks for no number where the answer is certain. */
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** Another sequence, decided by this one's seed and the label alone: what one part draws shifts no other part. */
  fork(label: string): SeededRandom
}

/** The generator is sfc32 (Chris Doty-Humphrey, PractRand), seeded through a hash of `seed`. */
export function seededRandom(seed: string): SeededRandom {
  let [a, b, c, counter] = [hash(seed, 1), hash(seed, 2), hash(seed, 3), 1]
  const next = () => {
    const result = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + result
    return result >>> 0
  }
  for (let i = 0; i < 12; i++) next()
  const uniform = () => next() / 2 ** 32
  const int = (least: number, most: number) => least + Math.floor(uniform() * (most - least + 1))
  return {
    uniform,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 255),
    int,
    chance: (probability) => probability > 0 && (probability >= 1 || uniform() < probability),
    pick: (list) => list[int(0, list.length - 1)]!,
    fork: (label) => seededRandom(`${seed}/${label}`),
  }
}

/** FNV-1a, 32 bits. */
export function hash(text: string, salt = 0): number {
  let value = 0x811c9dc5 ^ salt
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}
