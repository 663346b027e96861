import { z } from 'zod'
import type { WorkCode } from '../../../core/errors.ts'
import type { ImageWarningCode } from '../../../core/image/warnings.ts'
import type { Limits } from '../../../core/limits.ts'
import type { FrameHeader, FrameLimits } from './frames.ts'

/** Worker → rendering process: make the outputs of the original that follows. One at a time. */
export interface RenderRequest extends FrameHeader {
  limits: Limits
}

/**
 * Rendering process → worker. The process has decoded a stranger's bytes, so what it says is checked like any input:
 * nothing of it becomes a key, a header or an allocation before it has passed here.
 */
export type Answer = z.infer<typeof ANSWER>

/** @throws when the header is no answer */
export function parseAnswer(header: FrameHeader): Answer {
  return ANSWER.parse(header)
}

export const ANSWER_LIMITS: FrameLimits = { headerBytes: 64 * 1024, bodyBytes: 256 * 1024 * 1024 }

const size = z.int().min(1).max(65_535)
const bytes = z.int().min(0)

const HELLO = z.object({
  kind: z.literal('hello'),
  bytes: z.literal(0),
  /** Becomes part of object keys. */
  engine: z.string().regex(/^[\w.-]{1,100}$/),
})

const RENDERED = z
  .object({
    kind: z.literal('rendered'),
    bytes,
    /** Of the whole process, when the job was done. */
    rssBytes: bytes,
    outputs: z
      .array(
        z.object({
          name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/),
          contentType: z.string().regex(/^image\/[a-z]{3,5}$/),
          width: size,
          height: size,
          /** The body is the outputs one after the other. */
          bytes,
        }),
      )
      .min(1)
      .max(64),
    warnings: z
      .array(z.object({ code: z.custom<ImageWarningCode>(isCode), message: z.string().max(1_000) }))
      .max(64),
  })
  .refine(({ bytes, outputs }) => outputs.reduce((sum, output) => sum + output.bytes, 0) === bytes)
  .refine(({ outputs }) => new Set(outputs.map(({ name }) => name)).size === outputs.length)

const message = z.string().max(1_000)

const FAILED = z.object({
  kind: z.literal('failed'),
  bytes: z.literal(0),
  rssBytes: bytes,
  error: z.discriminatedUnion('class', [
    z.object({
      class: z.literal('permanent'),
      code: z.enum(['unsupported_type', 'corrupt', 'truncated', 'too_many_pixels', 'too_many_frames']),
      message,
    }),
    z.object({
      class: z.literal('work'),
      code: z.enum(['renderer_killed', 'internal'] satisfies WorkCode[]),
      message,
    }),
  ]),
})

const ANSWER = z.discriminatedUnion('kind', [HELLO, RENDERED, FAILED])

function isCode(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z_]{1,40}$/.test(value)
}
