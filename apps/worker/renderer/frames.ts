/**
 * How the worker and a rendering process talk over their pipe. A frame is
 *
 *     4 bytes, big-endian   the header's length
 *     the header            JSON; its field `bytes` is the body's length
 *     the body              as it is: an original one way, outputs the other
 */
export interface FrameHeader {
  /** Of the body that follows. */
  bytes: number
}

export interface FrameLimits {
  headerBytes: number
  bodyBytes: number
}

export function encodeHeader(header: FrameHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(json.length)
  return Buffer.concat([length, json])
}

/**
 * Puts frames together from the pieces in which a pipe delivers them. Each body is one buffer, allocated once and
 * filled as its pieces come.
 *
 * @param limits what is taken at most; a longer frame makes the returned function throw, and so does a header that is
 *   no JSON object with `bytes`: after that nothing more can be read from the pipe
 * @returns what takes the next piece; keeps nothing of it
 */
export function createFrameReader(
  limits: FrameLimits,
  onFrame: (header: FrameHeader, body: Buffer) => void,
): (piece: Buffer) => void {
  let part: 'length' | 'header' | 'body' = 'length'
  let gathered = Buffer.alloc(LENGTH_BYTES)
  let filled = 0
  let header: FrameHeader = { bytes: 0 }

  function expect(next: typeof part, bytes: number): void {
    part = next
    gathered = Buffer.allocUnsafeSlow(bytes)
    filled = 0
  }

  function complete(): void {
    if (part === 'length') {
      expect('header', within(gathered.readUInt32BE(), limits.headerBytes, 'header'))
    } else if (part === 'header') {
      header = JSON.parse(gathered.toString())
      expect('body', within(header?.bytes, limits.bodyBytes, 'body'))
    } else {
      const body = gathered
      expect('length', LENGTH_BYTES)
      onFrame(header, body)
    }
  }

  return (piece) => {
    let offset = 0
    do {
      const taken = piece.copy(gathered, filled, offset)
      filled += taken
      offset += taken
      // A part of length 0 is complete before any byte of it came.
      while (filled === gathered.length) complete()
    } while (offset < piece.length)
  }
}

function within(bytes: unknown, limit: number, what: string): number {
  if (!Number.isInteger(bytes) || (bytes as number) < 0 || (bytes as number) > limit) {
    throw new RangeError(`a frame’s ${what} has to be 0 to ${limit} bytes long, not ${bytes}`)
  }
  return bytes as number
}

const LENGTH_BYTES = 4
