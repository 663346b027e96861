import { z } from 'zod'
import { IMAGE_TYPES } from '../../../core/image/verdict.ts'
import { presetName } from '../../../core/preset-schema.ts'
import * as headers from './headers.ts'
import { acceptedJobSchema, jobIdSchema } from './job.ts'
import type { Operation } from './operation.ts'
import { wholeNumber } from './whole-number.ts'

const IMAGE_MEDIA_TYPES = Object.values(IMAGE_TYPES).map(({ contentType }) => contentType)

const outputParameter = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
  .meta({ description: 'An output’s name, or `original`.', examples: ['thumbnail', 'original'] })

export const postImage = {
  method: 'post',
  path: '/v1/images',
  tag: 'Images',
  summary: 'Send an image',
  description:
    'Stores the image and answers with a job once both are durable. The body is the image itself, no form. ' +
    'With an Idempotency-Key the request can be sent again after a lost answer: it is the same job.',
  query: z.strictObject({
    preset: presetName
      .optional()
      .meta({ description: 'What is made of the image; `thumbnail` where none is named.' }),
    strict: z.enum(['true', 'false']).optional().meta({
      description: '`true`: a job whose image can only be decoded leniently FAILs as `not_strict`.',
    }),
    expires_in: wholeNumber(1, 86_400)
      .optional()
      .meta({ description: 'In seconds: a job that was not begun by then FAILs as `expired`.' }),
    callback_url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional()
      .meta({ description: 'Told when the job has ended, by a signed POST.' }),
  }),
  requestHeaders: {
    'Idempotency-Key': headers.idempotencyKeyHeader.optional(),
    Prefer: headers.preferHeader.optional(),
    'Content-Digest': headers.contentDigestHeader.optional(),
    Expect: z.literal('100-continue').optional(),
  },
  body: {
    description: 'The image’s bytes. What it is, is decided by them.',
    required: true,
    types: [...IMAGE_MEDIA_TYPES, 'application/octet-stream'],
  },
  answers: {
    202: {
      description: 'Accepted, now or by an earlier request with this key.',
      headers: {
        Location: headers.locationHeader,
        'Retry-After': headers.retryAfterHeader.optional(),
        'Idempotent-Replayed': headers.replayedHeader.optional(),
        'Preference-Applied': headers.preferenceAppliedHeader.optional(),
        'Cache-Control': headers.noStoreHeader,
      },
      json: acceptedJobSchema,
    },
  },
  problems: [
    'empty_body',
    'idempotency_key_malformed',
    'idempotency_key_missing',
    'content_digest_malformed',
    'upload_timeout',
    'upload_too_slow',
    'upload_in_progress',
    // The key's job was deleted since, or its results have expired.
    'gone',
    'too_large',
    'unsupported_type',
    'idempotency_key_reused',
    'content_digest_mismatch',
    'invalid_parameter',
    'unknown_preset',
    'callback_url_refused',
    'corrupt',
    'truncated',
    'too_many_pixels',
    'too_many_frames',
    'rate_limited',
    'too_many_jobs',
    'too_many_uploads',
  ],
} as const satisfies Operation

export const deleteImage = {
  method: 'delete',
  path: '/v1/images/{id}',
  tag: 'Images',
  summary: 'Delete an image',
  description: 'Original and outputs are gone, and the job answers 410 from now on.',
  params: { id: jobIdSchema },
  answers: { 204: { description: 'Deleted.' } },
  problems: ['no_such_job', 'gone'],
} as const satisfies Operation

const objectHeaders = {
  ETag: z
    .string()
    .regex(/^"[0-9a-f]{64}"$/)
    .meta({ description: 'The SHA-256 of the whole image.' }),
  'Cache-Control': z.literal('private, no-cache'),
  'Accept-Ranges': z.literal('bytes'),
  'X-Content-Type-Options': z.literal('nosniff'),
  'Content-Security-Policy': z.literal("default-src 'none'; sandbox"),
  Vary: z
    .literal('Accept')
    .optional()
    .meta({ description: 'Of an output that has variants: the Accept header chooses.' }),
}
const dispositionHeader = z
  .string()
  .startsWith('attachment; filename="img_')
  .optional()
  .meta({ description: 'Of originals, which are saved, not shown.' })

export const getImage = {
  method: 'get',
  path: '/v1/images/{id}/{output}',
  tag: 'Images',
  summary: 'Read an image',
  description:
    'An output of a job that SUCCEEDED, or the original at any time. Where an output has variants, the Accept header chooses.',
  params: { id: jobIdSchema, output: outputParameter },
  requestHeaders: {
    Range: z
      .string()
      .regex(/^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/)
      .optional(),
    'If-Range': z.string().optional(),
    'If-Match': z.string().optional(),
    'If-None-Match': z.string().optional(),
  },
  answers: {
    200: {
      description: 'The image.',
      headers: { ...objectHeaders, 'Content-Disposition': dispositionHeader },
      other: IMAGE_MEDIA_TYPES,
    },
    206: {
      description: 'The part that Range asks for.',
      headers: {
        ...objectHeaders,
        'Content-Disposition': dispositionHeader,
        'Content-Range': z.string().regex(/^bytes \d+-\d+\/\d+$/),
      },
      other: IMAGE_MEDIA_TYPES,
    },
    304: { description: 'If-None-Match names it: the client has these bytes.', headers: objectHeaders },
  },
  problems: [
    'moderation_rejected',
    'no_such_job',
    'no_such_output',
    'not_done',
    'gone',
    'changed',
    'range_not_satisfiable',
  ],
  tellsJobErrors: true,
} as const satisfies Operation
