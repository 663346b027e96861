/**
 * The lowest `5 * length` bits of `value` in Crockford's base 32, lower case: no letters that are taken for digits, and
 * one word for whoever double-clicks it.
 */
export function base32(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text
  return text
}

/** The bytes as one number, the first byte the highest. */
export function bigintOf(bytes: Uint8Array, start = 0n): bigint {
  let value = start
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return value
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
