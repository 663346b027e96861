import { z } from 'zod'
import { SEND_ERRORS } from '../../../core/callback-schedule.ts'
import { jobErrorSchema, jobIdSchema, jobStatusSchema } from './job.ts'

const time = (description: string) => z.iso.datetime({ precision: 3 }).meta({ description })

export const callbackIdSchema = z
  .string()
  .regex(/^[0-9A-Za-z_-]{1,64}$/)
  .meta({ description: 'A callback’s id: its webhook-id.' })

export const callbackSchema = z
  .strictObject({
    callback_id: callbackIdSchema,
    event: z.enum(['job.succeeded', 'job.failed']),
    url: z.string(),
    state: z.enum(['PENDING', 'DELIVERED', 'GIVEN_UP', 'DISABLED']),
    created_at: time('When the job ended: a callback is owed from then on.'),
    finished_at: time('Not PENDING: since when.').optional(),
    attempts: z
      .int()
      .min(0)
      .meta({ description: 'How often it was sent, since it was owed or last asked for.' }),
    next_attempt_at: time(
      'PENDING: when it is sent next; while it is being sent, when that counts as lost.',
    ).optional(),
    deliveries: z
      .array(
        z.strictObject({
          at: time('When it was sent.'),
          duration_ms: z.int().min(0),
          status_code: z.int().optional().meta({ description: 'What the receiver answered.' }),
          error: z.enum(SEND_ERRORS).optional().meta({ description: 'Why there was no answer.' }),
        }),
      )
      .meta({ description: 'The newest 100 attempts, oldest first.' }),
  })
  .meta({ id: 'Callback' })

export const callbackListSchema = z
  .strictObject({ callbacks: z.array(callbackSchema) })
  .meta({ id: 'CallbackList' })

export type CallbackListBody = z.output<typeof callbackListSchema>
export type CallbackBody = z.output<typeof callbackSchema>

/** The body of a callback, as its receiver gets it. */
export const webhookSchema = z
  .strictObject({
    type: z.enum(['job.succeeded', 'job.failed']),
    timestamp: time('When the job ended.'),
    data: z.strictObject({
      job_id: jobIdSchema,
      status: jobStatusSchema,
      done: z.literal(true),
      url: z.string().meta({ description: 'Where the job is.' }),
      finished_at: time('When the job ended.'),
      error: jobErrorSchema.optional(),
    }),
  })
  .meta({ id: 'Webhook' })

export type WebhookBody = z.output<typeof webhookSchema>
