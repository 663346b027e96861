import type { z } from 'zod'
import type { ProblemCode } from './problem-codes.ts'

/**
 * One operation of the HTTP interface, said once: requests are validated by it, answers are typed by it, and
 * `openapi.json` is made from it.
 */
export interface Operation {
  method: 'get' | 'post' | 'delete'
  /** With parameters in braces, as OpenAPI writes it: `/v1/jobs/{id}`. */
  path: `/${string}`
  tag: 'Images' | 'Jobs' | 'Callbacks' | 'Service'
  summary: string
  description?: string
  /** Answered without a key. */
  open?: true
  /** In the path. A value that does not fit names nothing: 404. */
  params?: Record<string, z.ZodType>
  /** Strict: a parameter that it does not name is refused (422). */
  query?: z.ZodObject
  /** Headers that mean something to it, beyond {@link COMMON_REQUEST_HEADERS}. */
  requestHeaders?: Record<string, z.ZodType>
  /** The request's body, by media type. */
  body?: { description: string; required: boolean; types: readonly string[] }
  /** The answers that are no problems, by status. */
  answers: Record<number, Answer>
  /** What it refuses, beyond {@link COMMON_PROBLEMS}; the status is the code's. */
  problems?: readonly ProblemCode[]
  /** 409 with the job's own error code, where the job failed. */
  tellsJobErrors?: true
}

export interface Answer {
  description: string
  /** A header whose schema is optional may be missing. */
  headers?: Record<string, z.ZodType>
  /** JSON of this schema. */
  json?: z.ZodType
  /** Another body: its media types. */
  other?: readonly string[]
}
