/**
 * Parsers that read forward and wait in the middle: a generator that asks for bytes, and a driver that feeds it whatever
 * chunks arrive. A parser sees the same pieces however the bytes were cut, keeps nothing of what it skips, and cannot go
 * back.
 */
export type Parsing<T> = Generator<Demand, T, Uint8Array>

type Demand =
  | { kind: 'take'; bytes: number; after: number }
  | { kind: 'skip'; bytes: number }
  | { kind: 'skip_past'; byte: number }
  | { kind: 'skip_blocks' }

/** What a parser reads from. Each call ends with {@link EndOfBytes} when the bytes end before it is satisfied. */
export interface ForwardBytes {
  /** How many bytes lie behind. */
  readonly position: number
  /** The next `bytes` bytes, at most {@link MAX_TAKE_BYTES}, behind `after` that are skipped, 0 unless given; valid until
   * the parser's next call. */
  take(bytes: number, after?: number): Parsing<Uint8Array>
  skip(bytes: number): Parsing<void>
  /** Skips to behind the next `byte`. */
  skipPast(byte: number): Parsing<void>
  /** Skips GIF's data sub-blocks: each begins with its length, and one of length 0 ends them. */
  skipBlocks(): Parsing<void>
}

/** The bytes ended where more were needed. */
export class EndOfBytes extends Error {
  readonly position: number

  constructor(position: number) {
    super(`the bytes end after ${position}`)
    this.name = 'EndOfBytes'
    this.position = position
  }
}

/** The parser asked too often. */
export class TooManyParts extends Error {
  constructor(maxParts: number) {
    super(`more than ${maxParts} parts`)
    this.name = 'TooManyParts'
  }
}

export interface ForwardRun<T> {
  /** Whether the parser has come to its result; what is pushed later is not looked at. */
  readonly done: boolean
  /** Rethrows what the parser throws. Keeps nothing of `chunk`. */
  push(chunk: Uint8Array): void
  /** The parser's result. Throws {@link EndOfBytes} when the parser needed more. */
  end(): T
}

export const MAX_TAKE_BYTES = 65_536

/** Bounds the time that a file of nothing but empty parts takes: so many calls are some hundredths of a second. A PNG of
 * 64 MB in chunks of 8 KB, as encoders write them, has 8,000. */
export const MAX_PARTS = 25_000

export function runForward<T>(
  parser: (bytes: ForwardBytes) => Parsing<T>,
  maxParts: number = MAX_PARTS,
): ForwardRun<T> {
  let position = 0
  let parts = 0
  /** Of a take that the last chunk did not satisfy. */
  let gathered: Uint8Array | null = null
  let filled = 0
  /** Of a skip, or of the sub-block that is being skipped. */
  let left = 0

  const parsing = parser({
    get position() {
      return position
    },
    *take(bytes, after = 0) {
      return yield { kind: 'take', bytes, after }
    },
    *skip(bytes) {
      yield { kind: 'skip', bytes }
    },
    *skipPast(byte) {
      yield { kind: 'skip_past', byte }
    },
    *skipBlocks() {
      yield { kind: 'skip_blocks' }
    },
  })
  let step = parsing.next()
  begin()

  function begin(): void {
    if (step.done) return
    if (++parts > maxParts) throw new TooManyParts(maxParts)
    const demand = step.value
    gathered = null
    filled = 0
    left = demand.kind === 'skip' ? demand.bytes : demand.kind === 'take' ? demand.after : 0
    if (demand.kind === 'take' && demand.bytes > MAX_TAKE_BYTES) throw new RangeError('take is bounded')
  }

  /** Serves the demand from `chunk` on; what it gave the parser, or null when the chunk did not suffice. */
  function serve(
    demand: Demand,
    chunk: Uint8Array,
    offset: number,
  ): { offset: number; bytes: Uint8Array | null } {
    switch (demand.kind) {
      case 'take': {
        const start = offset + Math.min(left, chunk.length - offset)
        left -= start - offset
        if (left > 0) return { offset: start, bytes: null }
        const end = start + demand.bytes - filled
        if (filled === 0 && end <= chunk.length) return { offset: end, bytes: chunk.subarray(start, end) }
        const piece = chunk.subarray(start, end)
        gathered ??= new Uint8Array(demand.bytes)
        gathered.set(piece, filled)
        filled += piece.length
        return { offset: start + piece.length, bytes: filled === demand.bytes ? gathered : null }
      }
      case 'skip': {
        const skipped = Math.min(left, chunk.length - offset)
        left -= skipped
        return { offset: offset + skipped, bytes: left === 0 ? NOTHING : null }
      }
      case 'skip_past': {
        const found = chunk.indexOf(demand.byte, offset)
        return found < 0 ? { offset: chunk.length, bytes: null } : { offset: found + 1, bytes: NOTHING }
      }
      case 'skip_blocks': {
        let at = offset + left
        while (at < chunk.length) {
          const length = chunk[at]!
          if (length === 0) return { offset: at + 1, bytes: NOTHING }
          at += 1 + length
        }
        left = at - chunk.length
        return { offset: chunk.length, bytes: null }
      }
    }
  }

  return {
    get done() {
      return step.done === true
    },
    push(chunk) {
      let offset = 0
      while (!step.done) {
        const served = serve(step.value, chunk, offset)
        position += served.offset - offset
        offset = served.offset
        if (served.bytes === null) return
        step = parsing.next(served.bytes)
        begin()
      }
    },
    end() {
      while (!step.done) {
        step = parsing.throw(new EndOfBytes(position))
        begin()
      }
      return step.value
    },
  }
}

const NOTHING = new Uint8Array(0)
