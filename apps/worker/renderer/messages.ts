import { z } from 'zod'
import type { WorkCode } from '../../../core/errors.ts'
import type { ImageWarningCode } from '../../../core/image/warnings.ts'
import type { Limits } from '../../../core/limits.ts'
import type { RenderPlan } from '../../../core/ports/renderer.ts'
import { OUTPUT_FORMATS } from '../../../core/preset.ts'
import { printable } from '../../../core/printable.ts'
import type { FrameHeader, FrameLimits } from './frames.ts'
import type { Confinement } from './sandbox/confinement.ts'

/** Worker → rendering process: make the outputs of the original that follows. One at a time. */
export interface RenderRequest extends FrameHeader {
  limits: Limits
  plan: RenderPlan
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

export const ANSWER_LIMITS: FrameLimits = { headerBytes: 128 * 1024, bodyBytes: 256 * 1024 * 1024 }

const size = z.int().min(1).max(65_535)
const bytes = z.int().min(0)
const ms = z.number().min(0)
/** What a stranger's file may have written: made fit to be stored rather than refused, which would end the process. */
const text = (most: number) => z.string().transform((written) => printable(written).slice(0, most))
const words = text(200)
const message = text(1_000)
const colour = z.string().regex(/^#[0-9a-f]{6}$/)

const FACTS = z.strictObject({
  type: z.string().regex(/^image\/[a-z+]{3,10}$/),
  width: z.int().min(1),
  height: z.int().min(1),
  pages: z.int().min(1),
  durationMs: ms.nullable(),
  loop: z.int().min(0).nullable(),
  alpha: z.boolean(),
  colourSpace: words,
  profile: words.nullable(),
  bitDepth: z.int().min(1).max(64),
  camera: z.strictObject({ make: words.exactOptional(), model: words.exactOptional() }).nullable(),
  capturedAt: words.nullable(),
  gps: z
    .strictObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })
    .exactOptional(),
  thumbhash: z.string().regex(/^[A-Za-z0-9+/]{0,64}={0,2}$/),
  dominant: colour,
  palette: z.array(colour).max(16),
})

const COST = z.strictObject({ decodeMs: ms, resizeMs: ms, encodeMs: ms, peakRssBytes: bytes })

const CONFINEMENT = z.object({
  user: z.int().min(0).nullable(),
  files: z.boolean(),
  network: z.boolean(),
  processes: z.boolean(),
  noNewPrivileges: z.boolean(),
  dataLimitBytes: z.int().min(0).nullable(),
  mallocArenas: z.int().min(1).nullable(),
}) satisfies z.ZodType<Confinement>

const HELLO = z.object({
  kind: z.literal('hello'),
  bytes: z.literal(0),
  /** Becomes part of object keys. */
  engine: z.string().regex(/^[\w.-]{1,100}$/),
  confinement: CONFINEMENT,
})

const MEMORY = {
  /** Of the whole process, when the job was done. */
  rssBytes: bytes,
  /** Whether it ever took so much that what it says of the next image would be less sure. */
  strained: z.boolean(),
}

const RENDERED = z
  .object({
    kind: z.literal('rendered'),
    bytes,
    ...MEMORY,
    outputs: z
      .array(
        z.object({
          name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/),
          format: z.enum(OUTPUT_FORMATS),
          contentType: z.string().regex(/^image\/[a-z]{3,5}$/),
          width: size,
          height: size,
          frames: z.int().min(1).max(100_000),
          durationMs: ms.nullable(),
          /** The body is the outputs one after the other. */
          bytes,
        }),
      )
      .min(1)
      .max(64),
    facts: FACTS,
    cost: COST,
    warnings: z.array(z.object({ code: z.custom<ImageWarningCode>(isCode), message })).max(64),
  })
  .refine(({ bytes, outputs }) => outputs.reduce((sum, output) => sum + output.bytes, 0) === bytes)
  .refine(
    ({ outputs }) => new Set(outputs.map(({ name, format }) => `${name}.${format}`)).size === outputs.length,
  )

const FAILED = z.object({
  kind: z.literal('failed'),
  bytes: z.literal(0),
  ...MEMORY,
  error: z.discriminatedUnion('class', [
    z.object({
      class: z.literal('permanent'),
      code: z.enum([
        'unsupported_type',
        'corrupt',
        'truncated',
        'too_many_pixels',
        'too_many_frames',
        'not_strict',
      ]),
      message,
    }),
    z.object({
      class: z.literal('work'),
      code: z.enum(['renderer_out_of_memory', 'internal'] satisfies WorkCode[]),
      message,
    }),
  ]),
})

const ANSWER = z.discriminatedUnion('kind', [HELLO, RENDERED, FAILED])

function isCode(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z_]{1,40}$/.test(value)
}
