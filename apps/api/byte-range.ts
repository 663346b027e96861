import type { ByteRange } from '../../core/ports/object-store.ts'

/**
 * The part of `bytes` bytes that a Range header asks for. `whole`: no range, or one that this server does not honour
 * (several at once, another unit, malformed), which RFC 9110 has answered as if it were not there.
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole'
  if (from === '') {
    const length = Math.min(Number(to), bytes)
    return length === 0 ? 'unsatisfiable' : { first: bytes - length, last: bytes - 1 }
  }
  const first = Number(from)
  const last = to === '' ? bytes - 1 : Number(to)
  if (to !== '' && last < first) return 'whole'
  return first >= bytes ? 'unsatisfiable' : { first, last: Math.min(last, bytes - 1) }
}
