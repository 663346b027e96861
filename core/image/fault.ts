import type { PermanentCode } from '../errors.ts'

/**
 * Who is to change something: `file` when it is broken and would be so for everybody, `service` when it may well be whole,
 * and is of a type, or larger than a limit, that this service does not take.
 */
export type Fault = 'file' | 'service'

export function faultOf(code: PermanentCode | 'empty_body'): Fault {
  return FAULTS[code]
}

/** Whether the code is one of those that say whose fault it is; the others are no verdict on the image. */
export function hasFault(code: string): code is PermanentCode {
  return Object.hasOwn(FAULTS, code)
}

const FAULTS: Record<PermanentCode | 'empty_body', Fault> = {
  empty_body: 'file',
  corrupt: 'file',
  truncated: 'file',
  not_strict: 'file',
  unsupported_type: 'service',
  too_many_pixels: 'service',
  too_many_frames: 'service',
  original_missing: 'service',
}
