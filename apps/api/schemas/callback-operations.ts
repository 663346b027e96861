import { callbackIdSchema, callbackListSchema, callbackSchema } from './callback.ts'
import * as headers from './headers.ts'
import { jobIdSchema } from './job.ts'
import type { Operation } from './operation.ts'

export const listCallbacks = {
  method: 'get',
  path: '/v1/jobs/{id}/callbacks',
  tag: 'Callbacks',
  summary: 'List a job’s callbacks',
  description: 'With every attempt to deliver them.',
  params: { id: jobIdSchema },
  answers: {
    200: {
      description: 'The callbacks, oldest first.',
      headers: { 'Cache-Control': headers.noStoreHeader },
      json: callbackListSchema,
    },
  },
  problems: ['no_such_job', 'gone'],
} as const satisfies Operation

export const resendCallback = {
  method: 'post',
  path: '/v1/jobs/{id}/callbacks/{callback}/resend',
  tag: 'Callbacks',
  summary: 'Send a callback again',
  description:
    'At once, with the same webhook-id, whatever became of it, and with all of its tries before it.',
  params: { id: jobIdSchema, callback: callbackIdSchema },
  answers: {
    202: {
      description: 'It is sent again.',
      headers: { 'Cache-Control': headers.noStoreHeader },
      json: callbackSchema,
    },
  },
  problems: ['no_such_job', 'no_such_callback', 'callback_in_flight', 'gone'],
} as const satisfies Operation
