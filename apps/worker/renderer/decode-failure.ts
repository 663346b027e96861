import { PermanentError, WorkError } from '../../../core/errors.ts'
import { IMAGE_TYPES, type ImageType } from '../../../core/image/verdict.ts'
import { WARNING_FAILED } from './leniency.ts'
import { saysOutOfMemory } from './out-of-memory.ts'

/**
 * Who is at fault when decoding failed: the image, unless the decoder says otherwise. By its words, because it has no
 * codes; words that are not known here mean a damaged file, which a thousand different messages describe.
 */
export function decodeFailure(error: unknown, type: ImageType): Error {
  if (!(error instanceof Error) || error instanceof PermanentError) return error as Error
  const { label } = IMAGE_TYPES[type]
  const said = (error.message.split('\n').find((line) => line !== WARNING_FAILED) ?? '').slice(0, 200)
  const permanent = (code: PermanentError['code'], message: string) =>
    new PermanentError(code, message, { cause: error })

  if (saysOutOfMemory(error.message)) {
    return new WorkError('renderer_out_of_memory', `decoding the ${label} ran out of memory`, {
      cause: error,
    })
  }
  if (/exceeds pixel limit/.test(said))
    return permanent('too_many_pixels', `the ${label} has more pixels than it says`)
  if (UNSUPPORTED.test(error.message)) {
    return permanent('unsupported_type', `the ${label} is of a kind that is not decoded here: ${said}`)
  }
  if (CUT_OFF.test(error.message)) return permanent('truncated', `the ${label} is cut off: ${said}`)
  return permanent('corrupt', `the ${label} is damaged: ${said}`)
}

const UNSUPPORTED = /not configured|unsupported (?!image format)|not supported|not implemented/i
const CUT_OFF = /premature end of JPEG image|unexpected end|got \d+ bytes, expected/i
