import type { Limits } from '../limits.ts'
import { parseAvif } from './formats/avif.ts'
import { parseGif } from './formats/gif.ts'
import { parseJpeg } from './formats/jpeg.ts'
import { parsePng } from './formats/png.ts'
import { parseSvg } from './formats/svg.ts'
import { parseTiff } from './formats/tiff.ts'
import { parseWebp } from './formats/webp.ts'
import {
  EndOfBytes,
  type ForwardBytes,
  type ForwardRun,
  MAX_PARTS,
  type Parsing,
  runForward,
  TooManyParts,
} from './forward-parser.ts'
import { identify } from './identify.ts'
import {
  corrupt,
  IMAGE_TYPES,
  type ImageFacts,
  ImageRefused,
  type ImageType,
  type Refusal,
  type Verdict,
} from './verdict.ts'

export interface Inspector {
  /**
   * Looks at the next bytes, in the file's order, in pieces of any size; keeps nothing of `chunk`.
   * A refusal is final: the rest of the body need not be read.
   */
  push(chunk: Uint8Array): Refusal | null
  /** The verdict over all that was pushed, which was the whole file. */
  end(): Verdict
}

/** How many bytes decide the type: what HTML sniffing reads, and enough for an AVIF's brands. */
export const HEAD_BYTES = 512

/**
 * The verdict on an upload before its job is accepted: type, size and frames by the bytes alone, while they stream,
 * without decoding. What only a decoder can tell (a damaged scan, rows that are missing) is the renderer's to find.
 * Holds some tens of kilobytes, and a megabyte at most, whatever the file says.
 */
export function createInspector(limits: Limits): Inspector {
  const head = new Uint8Array(HEAD_BYTES)
  let headBytes = 0
  let type: ImageType | null = null
  let run: ForwardRun<ImageFacts> | null = null
  let refusal: Refusal | null = null

  function begin(): void {
    const bytes = head.subarray(0, headBytes)
    const identified = identify(bytes, limits)
    type = identified
    const maxParts = Math.max(MAX_PARTS, limits.maxFrames * PARTS_OF_A_FRAME)
    run = runForward((forward) => PARSERS[identified](forward, limits), maxParts)
    run.push(bytes)
  }

  function judge<T>(look: () => T): T | Refusal {
    try {
      return look()
    } catch (error) {
      refusal = asRefusal(error, type)
      return refusal
    }
  }

  return {
    push(chunk) {
      if (refusal) return refusal
      judge(() => {
        let rest = chunk
        if (!run) {
          const piece = chunk.subarray(0, HEAD_BYTES - headBytes)
          head.set(piece, headBytes)
          headBytes += piece.length
          if (headBytes < HEAD_BYTES) return
          begin()
          rest = chunk.subarray(piece.length)
        }
        run!.push(rest)
      })
      return refusal
    },
    end() {
      if (refusal) return refusal
      return judge((): Verdict => {
        if (!run) begin()
        return { ok: true, facts: run!.end() }
      })
    },
  }
}

type Parser = (bytes: ForwardBytes, limits: Limits) => Parsing<ImageFacts>

const PARSERS: Record<ImageType, Parser> = {
  jpeg: parseJpeg,
  png: parsePng,
  webp: parseWebp,
  gif: parseGif,
  avif: parseAvif,
  tiff: parseTiff,
  svg: parseSvg,
}

/** Of a GIF, with its control block; other formats ask less often. */
const PARTS_OF_A_FRAME = 12

/** Rethrows what is none of the file's faults. */
function asRefusal(error: unknown, type: ImageType | null): Refusal {
  if (error instanceof ImageRefused) return error.refusal
  const label = type ? IMAGE_TYPES[type].label : 'image'
  if (error instanceof EndOfBytes) {
    return new ImageRefused('truncated', `the ${label} is cut off: it ends after ${error.position} bytes`)
      .refusal
  }
  if (error instanceof TooManyParts) return corrupt(`the ${label} has ${error.message}`).refusal
  throw error
}
