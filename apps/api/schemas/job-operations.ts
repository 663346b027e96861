import { z } from 'zod'
import * as headers from './headers.ts'
import { jobIdSchema, jobListSchema, jobSchema, jobStatusSchema } from './job.ts'
import type { Operation } from './operation.ts'
import { wholeNumber } from './whole-number.ts'

export const getJob = {
  method: 'get',
  path: '/v1/jobs/{id}',
  tag: 'Jobs',
  summary: 'Read a job',
  params: { id: jobIdSchema },
  requestHeaders: { Prefer: headers.preferHeader.optional() },
  answers: {
    200: {
      description: 'The job as it stands.',
      headers: {
        'Retry-After': headers.retryAfterHeader.optional(),
        'Preference-Applied': headers.preferenceAppliedHeader.optional(),
        'Cache-Control': headers.noStoreHeader,
      },
      json: jobSchema,
    },
  },
  problems: ['no_such_job', 'gone'],
} as const satisfies Operation

export const listJobs = {
  method: 'get',
  path: '/v1/jobs',
  tag: 'Jobs',
  summary: 'List jobs',
  description:
    'The tenant’s own, newest first. Pages by cursor neither repeat nor miss a job that was there from the first page on.',
  query: z.strictObject({
    status: jobStatusSchema.optional(),
    created_after: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: 'Only jobs accepted later than this time.', examples: ['2026-01-31T12:00:00Z'] }),
    idempotency_key: z
      .string()
      .regex(/^[\x20-\x7e]{1,255}$/, { error: () => 'has to be 1 to 255 printable ASCII characters' })
      .optional()
      .meta({ description: 'Only the job of this key, as the key is without quotes.' }),
    cursor: z.string().min(1).max(256).optional().meta({ description: 'The last page’s `next_cursor`.' }),
    limit: wholeNumber(1, 100).default(20).meta({ description: 'Jobs on a page.' }),
  }),
  answers: {
    200: {
      description: 'A page.',
      headers: { 'Cache-Control': headers.noStoreHeader },
      json: jobListSchema,
    },
  },
  problems: ['invalid_parameter'],
} as const satisfies Operation

export const cancelJob = {
  method: 'delete',
  path: '/v1/jobs/{id}',
  tag: 'Jobs',
  summary: 'Cancel a job',
  description:
    'Ends a job that is not done: FAILED with code `cancelled`, at once. A worker that has it stops at its next heartbeat.',
  params: { id: jobIdSchema },
  answers: {
    200: {
      description: 'Cancelled: the job as it stands.',
      headers: { 'Cache-Control': headers.noStoreHeader },
      json: jobSchema,
    },
  },
  problems: ['no_such_job', 'already_done', 'gone'],
} as const satisfies Operation

export const jobEvents = {
  method: 'get',
  path: '/v1/jobs/{id}/events',
  tag: 'Jobs',
  summary: 'Follow a job',
  description:
    'Server-sent events: each transition once, oldest first, until the job is done. `Last-Event-ID` continues after that event.',
  params: { id: jobIdSchema },
  requestHeaders: {
    'Last-Event-ID': z
      .string()
      .regex(/^\d{1,18}$/)
      .optional(),
  },
  answers: {
    200: {
      description: 'The events, as they happen.',
      headers: { 'Cache-Control': headers.noStoreHeader, 'X-Accel-Buffering': z.literal('no').optional() },
      other: ['text/event-stream'],
    },
    204: {
      description: 'Last-Event-ID is of the last event there will be: nothing to wait for.',
      headers: { 'Cache-Control': headers.noStoreHeader },
    },
  },
  problems: ['no_such_job', 'gone', 'invalid_parameter', 'too_many_streams'],
} as const satisfies Operation
