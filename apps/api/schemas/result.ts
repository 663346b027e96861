import { z } from 'zod'
import { IMAGE_TYPES } from '../../../core/image/verdict.ts'

const colour = z.string().regex(/^#[0-9a-f]{6}$/)
const ms = z.number().min(0)

const factsSchema = z
  .strictObject({
    content_type: z.enum(Object.values(IMAGE_TYPES).map(({ contentType }) => contentType)),
    width: z.int().min(1).meta({ description: 'In pixels, its orientation followed.' }),
    height: z.int().min(1),
    pages: z.int().min(1).meta({ description: 'Frames of an animation, pages of a TIFF.' }),
    duration_ms: ms.nullable().meta({ description: 'Of one turn of an animation.' }),
    loop: z.int().min(0).nullable().meta({ description: 'How often the animation plays; 0: for ever.' }),
    alpha: z.boolean(),
    colour_space: z.string(),
    profile: z.string().nullable().meta({ description: 'The name of its colour profile.' }),
    bit_depth: z.int().min(1),
    camera: z.strictObject({ make: z.string().optional(), model: z.string().optional() }).nullable(),
    captured_at: z.string().nullable().meta({ description: 'As the camera wrote it.' }),
    gps: z
      .strictObject({ latitude: z.number(), longitude: z.number() })
      .optional()
      .meta({ description: 'Only where the operator has turned it on.' }),
    thumbhash: z
      .string()
      .meta({ description: 'A placeholder in base64: https://evanw.github.io/thumbhash/' }),
    dominant: colour,
    palette: z.array(colour),
  })
  .meta({ id: 'Facts', description: 'What the original is.' })

const costSchema = z
  .strictObject({ decode_ms: ms, resize_ms: ms, encode_ms: ms, peak_rss_bytes: z.int().min(0) })
  .meta({ id: 'Cost' })

/** Of a job that SUCCEEDED, beside its outputs. */
export const resultFields = {
  engine: z
    .string()
    .optional()
    .meta({ description: 'What made the outputs: the same bytes, preset and engine give the same bytes.' }),
  facts: factsSchema.optional(),
  cost: costSchema.optional(),
  moderation: z
    .strictObject({ verdict: z.enum(['approved', 'rejected']), labels: z.array(z.string()) })
    .optional()
    .meta({ description: 'Where a moderator is configured; rejected withholds the outputs.' }),
}

export type ResultBody = z.output<z.ZodObject<typeof resultFields>>
