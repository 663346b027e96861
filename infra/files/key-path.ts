import path from 'node:path'

/**
 * Where an object lies below the folder: its key, segment by segment.
 *
 * @throws {RangeError} for a key that would lie elsewhere, or that a file system reads differently than it is written
 */
export function keyPath(folder: string, key: string): string {
  const segments = key.split('/')
  const sound = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..')
  if (!sound || FORBIDDEN.test(key)) {
    throw new RangeError(`a key is made of names parted by "/", not ${JSON.stringify(key)}`)
  }
  return path.join(folder, ...segments)
}

/** A backslash parts names on Windows, a colon names a drive or a stream there; NUL ends a path for the kernel. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what it looks for
const FORBIDDEN = /[\u0000\\:]/
