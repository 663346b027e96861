import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { JOB_ERRORS, type JobErrorName } from '../../../core/job-errors.ts'
import { requestIdHeader, retryAfterHeader } from './headers.ts'
import type { Answer, Operation } from './operation.ts'
import { problemSchema } from './problem.ts'
import { PROBLEM_MEANINGS, type ProblemCode, type ProblemMeaning } from './problem-codes.ts'

export const PROBLEM_TYPE = 'application/problem+json'

/** What any request may be answered with. */
const COMMON_PROBLEMS: ProblemCode[] = [
  'malformed_url',
  'malformed_request',
  'host_missing',
  'headers_timeout',
  'expectation_failed',
  'invalid_parameter',
  'headers_too_large',
  'internal',
  'unavailable',
]
/** And any that needs a key. */
const KEYED_PROBLEMS: ProblemCode[] = ['unauthorized', 'rate_limited']

/** Statuses that are written before anything of ours has seen the request. */
const BELOW_HTTP = [400, 408, 431]

const COMMON_HEADERS: Record<string, z.ZodType> = {
  'X-Request-Id': requestIdHeader,
  RateLimit: z.string().optional().meta({ description: 'What is left of the tenant’s rate.' }),
  'RateLimit-Policy': z.string().optional().meta({ description: 'The tenant’s rate.' }),
}

/** An answer as the document describes it, and as the tests check it. */
export interface FullAnswer extends Answer {
  headers: Record<string, z.ZodType>
  /** The codes of a problem. */
  codes?: string[]
  /** Whether other operations answer exactly this as well. */
  common?: boolean
}

/** Everything that the operation may answer, by status. */
export function answersOf(operation: Operation): Map<number, FullAnswer> {
  const answers = new Map<number, FullAnswer>()
  for (const [status, answer] of Object.entries(operation.answers)) {
    answers.set(Number(status), { ...answer, headers: { ...COMMON_HEADERS, ...answer.headers } })
  }
  const byStatus = Map.groupBy(problemCodesOf(operation), (code) => PROBLEM_MEANINGS[code].status)
  for (const [status, ofStatus] of [...byStatus].sort(([a], [b]) => a - b)) {
    const jobErrors = status === 409 && operation.tellsJobErrors ? Object.keys(JOB_ERRORS) : []
    answers.set(status, problemAnswer(status, [...ofStatus, ...jobErrors]))
  }
  return answers
}

/** Every problem that the operation may answer with, jobs' own errors apart. */
export function problemCodesOf(operation: Operation): ProblemCode[] {
  const keyed = operation.open ? [] : KEYED_PROBLEMS
  return [...new Set([...COMMON_PROBLEMS, ...keyed, ...(operation.problems ?? [])])]
}

/** What a resource answers to a method that it has not, and a path that leads nowhere. */
export const UNROUTED: Map<number, FullAnswer> = new Map(
  (['method_not_allowed', 'not_found'] as const).map((code) => {
    const { status } = PROBLEM_MEANINGS[code]
    return [status, problemAnswer(status, [code])]
  }),
)

function problemAnswer(status: number, codes: string[]): FullAnswer {
  return {
    description: STATUS_CODES[status] ?? 'Error',
    codes,
    common: codes.every((code) => ([...COMMON_PROBLEMS, ...KEYED_PROBLEMS] as string[]).includes(code)),
    headers: {
      ...COMMON_HEADERS,
      ...(BELOW_HTTP.includes(status) && { 'X-Request-Id': requestIdHeader.optional() }),
      'Cache-Control': z.literal('no-store').optional(),
      ...problemHeaders(status),
    },
    json: problemSchema.extend({ status: z.literal(status), code: z.enum(codes) }),
  }
}

function problemHeaders(status: number): Record<string, z.ZodType> {
  switch (status) {
    case 400:
      return { Link: z.string().optional().meta({ description: 'Where the rule is explained.' }) }
    case 401:
      return { 'WWW-Authenticate': z.string().startsWith('Bearer') }
    case 405:
      return { Allow: z.string() }
    case 409:
      return { 'Retry-After': retryAfterHeader.optional() }
    case 410:
      return {
        Location: z.string().optional(),
        'Idempotent-Replayed': z.literal('true').optional(),
      }
    case 416:
      return { 'Content-Range': z.string().regex(/^bytes \*\/\d+$/) }
    case 429:
    case 503:
      return { 'Retry-After': retryAfterHeader }
    default:
      return {}
  }
}

/** Whether a problem of this status and code is to say that the same request may succeed later. */
export function isRetryable(status: number, code: string): boolean {
  const problem: ProblemMeaning | undefined = PROBLEM_MEANINGS[code as ProblemCode]
  if (problem?.status === status) return problem.retryable ?? false
  if (Object.hasOwn(JOB_ERRORS, code)) return false
  throw new Error(`no problem is called ${code} with status ${status}`)
}

/** What stands behind a code of an answer's problem. */
export function meaningOf(status: number, code: string): string {
  const problem: ProblemMeaning | undefined = PROBLEM_MEANINGS[code as ProblemCode]
  return problem?.status === status ? problem.meaning : JOB_ERRORS[code as JobErrorName].meaning
}
