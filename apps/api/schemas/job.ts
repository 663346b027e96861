import { z } from 'zod'
import { IMAGE_TYPES } from '../../../core/image/verdict.ts'
import { IMAGE_WARNINGS, type ImageWarningCode } from '../../../core/image/warnings.ts'
import { JOB_ERRORS, type JobErrorName } from '../../../core/job-errors.ts'
import { OUTPUT_FORMATS } from '../../../core/preset.ts'
import { resultFields } from './result.ts'

const time = (description: string) => z.iso.datetime({ precision: 3 }).meta({ description })

export const jobIdSchema = z
  .string()
  .regex(/^img_[0-9a-hjkmnp-tv-z]{26}$/)
  .meta({ description: 'A job’s id.', examples: ['img_01kbcd8m2v5t9x3qrw7yzh4n6e'] })

export const jobStatusSchema = z.enum(['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED']).meta({
  id: 'JobStatus',
  description:
    'QUEUED → RUNNING → SUCCEEDED or FAILED; back to QUEUED when an attempt ends without a verdict.',
})

const imageFields = {
  url: z.string().startsWith('/v1/images/').meta({ description: 'Where its bytes are.' }),
  content_type: z
    .enum(Object.values(IMAGE_TYPES).map(({ contentType }) => contentType))
    .meta({ description: 'By the bytes, whatever the request said.' }),
  bytes: z.int().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  width: z.int().min(1).meta({ description: 'In pixels, as the image is seen: its orientation followed.' }),
  height: z.int().min(1),
}

export const imageSchema = z.strictObject(imageFields).meta({ id: 'Image' })

export const outputSchema = z
  .strictObject({
    name: z.string().meta({ examples: ['thumbnail'] }),
    format: z.enum(OUTPUT_FORMATS),
    ...imageFields,
    frames: z.int().min(1).meta({ description: '1: a still picture.' }),
    duration_ms: z.number().min(0).optional().meta({ description: 'Of one turn of an animation.' }),
  })
  .meta({ id: 'Output' })

export const faultSchema = z.enum(['file', 'service']).meta({
  description:
    'Of a refused image: it is broken (file), or of a type or size that is not taken here (service).',
})

export const jobErrorSchema = z
  .strictObject({
    code: z.enum(Object.keys(JOB_ERRORS) as JobErrorName[]),
    message: z.string().min(1),
    retryable: z.boolean().meta({ description: 'Whether the same image may succeed, sent again.' }),
    fault: faultSchema.optional(),
  })
  .meta({ id: 'JobError' })

export const warningSchema = z
  .strictObject({
    code: z.enum(Object.keys(IMAGE_WARNINGS) as ImageWarningCode[]),
    message: z.string().min(1),
  })
  .meta({ id: 'Warning', description: 'What did not stop the job; the codes are stable.' })

export const jobSchema = z
  .strictObject({
    job_id: jobIdSchema,
    status: jobStatusSchema,
    done: z.boolean().meta({ description: 'Whether the status is final: SUCCEEDED or FAILED.' }),
    url: z.string().startsWith('/v1/jobs/').meta({ description: 'Where the job is.' }),
    created_at: time('When it was accepted.'),
    finished_at: time('When it ended.').optional(),
    expires_at: time('Not done: when it FAILs as expired unless it was begun by then.').optional(),
    result_expires_at: time(
      'Until when original and outputs are kept at least; later once the job has ended.',
    ).optional(),
    attempts: z.int().min(0).meta({ description: 'How often it was begun.' }),
    preset: z.string(),
    strict: z.boolean(),
    last_error: jobErrorSchema.optional().meta({ description: 'Not done: what ended the last attempt.' }),
    next_attempt_at: time('Waiting for another attempt: not before.').optional(),
    original: imageSchema,
    result: z
      .string()
      .startsWith('/v1/images/')
      .optional()
      .meta({ description: 'SUCCEEDED: the first output; none where a moderator withholds it.' }),
    outputs: z.array(outputSchema).optional().meta({ description: 'SUCCEEDED: the images made.' }),
    ...resultFields,
    error: jobErrorSchema.optional().meta({ description: 'FAILED: why.' }),
    warnings: z.array(warningSchema),
  })
  .meta({ id: 'Job' })

/** A 202's job. */
export const acceptedJobSchema = jobSchema
  .extend({
    idempotency_expires_at: time(
      'Sent with a key: until when at least the same key answers with this job.',
    ).optional(),
  })
  .meta({ id: 'AcceptedJob' })

/** The data of a server-sent event. */
export const jobEventSchema = z
  .strictObject({
    job_id: jobIdSchema,
    event: z.enum(['accepted', 'claimed', 'put_back', 'rescued', 'redriven', 'succeeded', 'failed']),
    status: jobStatusSchema,
    done: z.boolean(),
    at: time('When it happened.'),
    attempts: z.int().min(0),
    error: jobErrorSchema.optional(),
  })
  .meta({ id: 'JobEvent' })

export const jobListSchema = z
  .strictObject({
    jobs: z.array(jobSchema),
    next_cursor: z.string().nullable().meta({ description: 'Of the next page; null on the last one.' }),
  })
  .meta({ id: 'JobList' })

export type JobBody = z.output<typeof jobSchema>
export type AcceptedJobBody = z.output<typeof acceptedJobSchema>
export type JobListBody = z.output<typeof jobListSchema>
export type JobErrorBody = z.output<typeof jobErrorSchema>
export type JobEventBody = z.output<typeof jobEventSchema>
