import { base32, bigintOf } from './base32.ts'
import type { Clock } from './ports/clock.ts'
import type { Random } from './ports/random.ts'

/**
 * `img_` and 26 characters of Crockford's base 32 in lower case: 48 bits of milliseconds, 80 bits of chance (a ULID).
 * Ordered by time, so that new rows land at the index's end; not guessable.
 */
export function mintJobId(clock: Clock, random: Random): string {
  return `img_${base32(bigintOf(random.bytes(10), BigInt(clock.now())), 26)}`
}

/** Whether the text can be a job's id at all; one that can't needs no look at the table. */
export function isJobId(text: string): boolean {
  return /^img_[0-9a-z]{1,40}$/.test(text)
}
