import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { base32, bigintOf } from './base32.ts'
import type { Random } from './ports/random.ts'

const PREFIX = 'img42_'
const SECRET_BYTES = 20
const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 7

/**
 * A new API key: `img42_`, 160 bits of chance in 32 characters of Crockford's base 32, and a CRC-32 over all that in
 * seven. The prefix lets scanners find a key that leaked; the checksum tells a mistyped one without a look at the table.
 */
export function mintApiKey(random: Random): string {
  const key = PREFIX + base32(bigintOf(random.bytes(SECRET_BYTES)), SECRET_LENGTH)
  return key + checksum(key)
}

/** Whether the text can be a key at all. */
export function isApiKey(text: string): boolean {
  if (!/^img42_[0-9a-z]{39}$/.test(text)) return false
  const end = text.length - CHECKSUM_LENGTH
  return checksum(text.slice(0, end)) === text.slice(end)
}

/**
 * What is stored of a key. Plain SHA-256 is right here, as it is not for passwords: nobody finds 160 random bits by
 * trying, however fast the hash is, and a slow one would be paid by every request.
 */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** What a list shows of a key, for people to know it again: 30 of its 160 bits. */
export function shownPart(key: string): string {
  return key.slice(0, PREFIX.length + 6)
}

function checksum(text: string): string {
  return base32(BigInt(crc32(text)), CHECKSUM_LENGTH)
}
