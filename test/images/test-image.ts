import type { PermanentCode } from '../../core/errors.ts'
import { IMAGE_TYPES, type ImageType, type RefusalCode } from '../../core/image/verdict.ts'
import type { ImageWarningCode } from '../../core/image/warnings.ts'

/** An image that the project makes itself, and what should become of it. */
export interface TestImage {
  name: string
  bytes: Buffer
  /** What the client calls it. */
  contentType: string
  expect: Expectation
}

export type Expectation =
  /** 202, and in the end the thumbnail: 320 × 320 inside, upright, never enlarged. */
  | {
      outcome: 'thumbnail'
      status: 202
      type: ImageType
      /** Of the image, upright. */
      width: number
      height: number
      frames: number
      /** Whether the file says that it may be transparent. */
      alpha: boolean
      thumbnail: { width: number; height: number }
      warnings: ImageWarningCode[]
    }
  /** 202, because nothing before the scan is wrong, and in the end FAILED with one of the codes. */
  | { outcome: 'job_fails'; status: 202; type: ImageType; codes: PermanentCode[] }
  /** Refused while it is uploaded. */
  | { outcome: 'refused'; status: 400 | 415 | 422; code: RefusalCode }

export type MadeImage = Omit<TestImage, 'name'>
export type Maker = () => Promise<MadeImage>

export interface Accepted {
  width: number
  height: number
  frames?: number
  alpha?: boolean
  contentType?: string
  warnings?: ImageWarningCode[]
}

export function accepted(type: ImageType, bytes: Buffer, expected: Accepted): MadeImage {
  const { width, height, frames = 1, alpha = false, warnings = [] } = expected
  const { contentType = IMAGE_TYPES[type].contentType } = expected
  const thumbnail = thumbnailSize(width, height)
  return {
    bytes,
    contentType,
    expect: { outcome: 'thumbnail', status: 202, type, width, height, frames, alpha, thumbnail, warnings },
  }
}

export function jobFails(type: ImageType, bytes: Buffer, ...codes: PermanentCode[]): MadeImage {
  const { contentType } = IMAGE_TYPES[type]
  return { bytes, contentType, expect: { outcome: 'job_fails', status: 202, type, codes } }
}

export function refused(
  status: 400 | 415 | 422,
  code: RefusalCode,
  bytes: Buffer,
  contentType = 'application/octet-stream',
): MadeImage {
  return { bytes, contentType, expect: { outcome: 'refused', status, code } }
}

function thumbnailSize(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, 320 / width, 320 / height)
  const scaled = (length: number) => Math.max(1, Math.round(length * scale))
  return { width: scaled(width), height: scaled(height) }
}
