import { z } from 'zod'
import { faultSchema, jobStatusSchema } from './job.ts'

/** RFC 9457, with a stable `code`. */
export const problemSchema = z
  .strictObject({
    type: z.string().meta({ description: 'A URI that stands for the code.' }),
    title: z.string().meta({ description: 'The status in words.' }),
    status: z.int().min(400).max(599),
    detail: z.string().min(1).meta({ description: 'A sentence for people: what was found, and the limit.' }),
    code: z.string().meta({ description: 'Stable: what a program decides by.' }),
    retryable: z.boolean().meta({ description: 'Whether the same request may succeed later.' }),
    fault: faultSchema.optional(),
    job_status: jobStatusSchema
      .optional()
      .meta({ description: 'Of a job that cannot be cancelled any more.' }),
  })
  .meta({ id: 'Problem', description: 'An RFC 9457 problem.' })

export type ProblemBody = z.output<typeof problemSchema>
