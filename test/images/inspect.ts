import { createInspector } from '../../core/image/inspector.ts'
import type { ImageFacts, Refusal, Verdict } from '../../core/image/verdict.ts'
import { DEFAULT_LIMITS, type Limits } from '../../core/limits.ts'

/** The verdict on a whole file, pushed at once or in pieces of the given size. */
export function inspect(
  bytes: Uint8Array,
  limits: Limits = DEFAULT_LIMITS,
  pieceBytes = bytes.length,
): Verdict {
  const inspector = createInspector(limits)
  for (let at = 0; at < bytes.length; at += pieceBytes) inspector.push(bytes.subarray(at, at + pieceBytes))
  return inspector.end()
}

/** The facts of a file that has to be accepted. */
export function factsOf(bytes: Uint8Array, limits?: Limits): ImageFacts {
  const verdict = inspect(bytes, limits)
  if (!verdict.ok) throw new Error(`refused: ${verdict.message}`)
  return verdict.facts
}

/** The refusal of a file that must not be accepted. */
export function refusalOf(bytes: Uint8Array, limits?: Limits): Refusal {
  const verdict = inspect(bytes, limits)
  if (verdict.ok) throw new Error(`accepted: ${JSON.stringify(verdict.facts)}`)
  return verdict
}
