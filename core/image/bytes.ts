/** Reading fields of a piece of a file. Latin-1 keeps every byte, so that text and signatures compare the same way. */
export function ascii(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return String.fromCharCode(...bytes.subarray(from, to))
}

/** Whether `bytes` has, from `offset` on, the bytes that `hex` writes as pairs of digits; `..` stands for any byte. */
export function startsWith(bytes: Uint8Array, hex: string, offset = 0): boolean {
  const pairs = hex.split(' ')
  return pairs.every((pair, i) => pair === '..' || bytes[offset + i] === Number.parseInt(pair, 16))
}

/** A view over a piece, for numbers of either byte order. */
export function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
