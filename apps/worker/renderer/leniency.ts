import { PermanentError } from '../../../core/errors.ts'
import type { ImageType } from '../../../core/image/verdict.ts'
import type { ImageWarning } from '../../../core/image/warnings.ts'
import { mendJpeg } from './mend-jpeg.ts'

/** At which of its decoder's complaints a decode fails; `error` lets warnings pass. */
export type FailOn = 'warning' | 'error'

/**
 * Decodes as strictly as can be, and once more leniently where the complaint is one that says nothing of the picture:
 * files like that are shown by every browser. What lacks picture data fails either way: a decoder that is told to go on
 * makes up the rest in grey.
 *
 * @param decode rejects with the decoder's own message
 */
export async function decodeAsBrowsersDo<T>(
  type: ImageType,
  original: Buffer,
  decode: (bytes: Buffer, failOn: FailOn) => Promise<T>,
): Promise<{ decoded: T; lenient: boolean }> {
  try {
    return { decoded: await decode(original, 'warning'), lenient: false }
  } catch (error) {
    if (type === 'jpeg') return { decoded: await decodeMended(original, decode), lenient: true }
    if (type === 'tiff' && complainsOfTagsOnly(messageOf(error))) {
      return { decoded: await decode(original, 'error'), lenient: true }
    }
    throw error
  }
}

/** Mended, the file is held to the same strictness: what passes had all of its picture. */
async function decodeMended<T>(
  original: Buffer,
  decode: (bytes: Buffer, failOn: FailOn) => Promise<T>,
): Promise<T> {
  const { mended, endMissing } = mendJpeg(original)
  try {
    return await decode(mended, 'warning')
  } catch (error) {
    const complaint = messageOf(error)
    if (endMissing && PICTURE_DAMAGED.test(complaint)) throw new Error(CUT_OFF, { cause: error })
    if (!HARMLESS_IN_JPEG.test(complaint)) throw error
    // With the end marker that was added, what is missing behind the first warning would go unnoticed.
    return decode(endMissing ? original : mended, 'error')
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}

/** What libvips says of a JPEG that ends in the midst of its picture. */
const CUT_OFF = 'premature end of JPEG image'

const PICTURE_DAMAGED = /Corrupt JPEG data: (?!\d+ extraneous bytes)/

/** libjpeg's words for what it finds between segments and in headers. */
const HARMLESS_IN_JPEG =
  /extraneous bytes before marker|unknown JFIF revision|Unknown Adobe color transform|Invalid SOS parameters for sequential/

/** Whether libtiff complains of nothing but tags that it does not know or like: all of the picture is there then. */
function complainsOfTagsOnly(message: string): boolean {
  const [failure, ...complaints] = message.split('\n')
  return (
    failure === WARNING_FAILED &&
    complaints.length > 0 &&
    // The cache of tiles, or of rows, says that it was given none.
    complaints.every((line) => /\btags?\b|directory/i.test(line) || line.startsWith('error in tile'))
  )
}

/** What sharp says where a decoder only warned. The warnings follow, one a line. */
export const WARNING_FAILED = 'Warning treated as error due to failOn setting'

export const lenientWarning: ImageWarning = {
  code: 'lenient_decode',
  message: 'the file is damaged outside of its picture data; all of the picture was read',
}

/**
 * For a client that asked for strictness: refuses what was accepted although something about the file is broken.
 *
 * @throws {PermanentError} `not_strict`, with the sentences of those warnings
 */
export function refuseLeniency(warnings: readonly ImageWarning[]): void {
  const broken = warnings.filter(({ code }) => BROKEN.includes(code))
  if (broken.length > 0) {
    throw new PermanentError('not_strict', broken.map(({ message }) => message).join('; '))
  }
}

const BROKEN: ImageWarning['code'][] = ['lenient_decode', 'profile_broken']
