import { z } from 'zod'
import { wholeNumber } from './whole-number.ts'

/** Of requests. */
export const idempotencyKeyHeader = z
  .string()
  .min(1)
  .max(257)
  .regex(/^(?:"(?:[ !#-[\]-~]|\\["\\]){1,255}"|[!#-+\--:<-[\]-~]{1,255})$/)
  .meta({
    description:
      'Chosen by the client, the same for each try of one upload: 1–255 characters, quoted (RFC 8941) or bare.',
    examples: ['"8e03978e-40d5-43e8-bc93-6894a57f9324"'],
  })

export const preferHeader = z
  .string()
  .regex(/^wait=([1-9]|[1-5][0-9]|60)$/)
  .meta({
    description: 'wait=N: answer once the job is done, or after N seconds, 60 at most.',
    examples: ['wait=20'],
  })

export const contentDigestHeader = z
  .string()
  .regex(/^sha-256=:[A-Za-z0-9+/]{43}=:$/)
  .meta({
    description:
      'The body’s SHA-256 (RFC 9530). With `Expect: 100-continue` and a known Idempotency-Key it is answered without the body.',
  })

export const requestIdHeader = z
  .string()
  .regex(/^[\w.-]{1,64}$/)
  .meta({ description: 'The request’s id in logs; one is made where none, or no such one, was sent.' })

/** Of answers. */
export const retryAfterHeader = wholeNumber(1).meta({ description: 'When to ask again, in seconds.' })

export const locationHeader = z
  .string()
  .startsWith('/v1/jobs/')
  .meta({ description: 'The job’s address, as in its `url`.' })

export const preferenceAppliedHeader = z
  .string()
  .regex(/^wait=\d+$/)
  .meta({ description: 'The wait that was honoured.' })

export const replayedHeader = z
  .literal('true')
  .meta({ description: 'The job is an earlier request’s, which had the same Idempotency-Key and payload.' })

export const noStoreHeader = z.literal('no-store')
