import type { RenderSource } from '../../../../core/ports/renderer.ts'

export interface CountedSource extends RenderSource {
  /** How many pieces were taken of it. */
  readonly taken: number
  /** Whether it was let go, at its end or before. */
  readonly released: boolean
}

/**
 * The bytes as a store streams them, in pieces of 16 KB.
 *
 * @param then what happens in place of the end
 */
export function sourceOf(bytes: Buffer, then?: () => Promise<void>): CountedSource {
  let taken = 0
  let released = false
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        taken += 1
        yield bytes.subarray(at, at + PIECE_BYTES)
      }
      await then?.()
    } finally {
      released = true
    }
  }
  return {
    body: body(),
    bytes: bytes.length,
    get taken() {
      return taken
    },
    get released() {
      return released
    },
  }
}

export const PIECE_BYTES = 16_384
