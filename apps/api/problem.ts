import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Fault } from '../../core/image/fault.ts'
import type { JobStatus } from '../../core/job.ts'
import type { JobErrorName } from '../../core/job-errors.ts'
import type { ProblemCode } from './schemas/problem-codes.ts'
import { letBodyPass } from './unread-body.ts'

/**
 * What this service refuses, and how it says so: RFC 9457, with a stable `code` beside the type and with `retryable`,
 * which says whether the same request may succeed later.
 */
export interface Problem {
  status: number
  code: ProblemCode | JobErrorName
  detail: string
  retryable?: boolean
  /** Of a refused image: whether it is broken, or of a type or size that this service does not take. */
  fault?: Fault
  headers?: Record<string, string>
  /** Of the job that the request is about, where that is what is in its way. */
  jobStatus?: JobStatus
}

/** A {@link Problem} that ends the request wherever it is thrown. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.name = 'ProblemError'
    this.problem = problem
  }
}

/** How long a client waits before it asks again for what a failing dependency kept from it, in seconds. */
const OUTAGE_RETRY_SECONDS = 5

/** The problems that stand for themselves. */
export const PROBLEMS = {
  malformedUrl: {
    status: 400,
    code: 'malformed_url',
    detail: 'the URL’s path is not properly percent-encoded, or no path at all',
  },
  /** The same whatever is wrong with the key: none of them tells the others apart. */
  unauthorized: {
    status: 401,
    code: 'unauthorized',
    detail: 'this needs an API key: send it as Authorization: Bearer img42_…',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  notFound: { status: 404, code: 'not_found', detail: 'there is nothing here' },
  /** The same for an unknown id, a malformed one and another tenant's: none of them tells the others apart. */
  noSuchJob: { status: 404, code: 'no_such_job', detail: 'there is no job of this id' },
  noSuchCallback: {
    status: 404,
    code: 'no_such_callback',
    detail: 'the job has no callback of this id',
  },
  callbackInFlight: {
    status: 409,
    code: 'callback_in_flight',
    detail: 'the callback is being sent at this moment',
    retryable: true,
    // As long as a receiver has to answer.
    headers: { 'Retry-After': '15' },
  },
  gone: { status: 410, code: 'gone', detail: 'the image was deleted, or kept for as long as results are' },
  keyConflict: {
    status: 422,
    code: 'idempotency_key_reused',
    detail: 'this Idempotency-Key stands for another request: other bytes, type or options',
  },
  unavailable: {
    status: 503,
    code: 'unavailable',
    detail:
      'something that this service depends on does not answer; try again, with the same Idempotency-Key if there is one',
    retryable: true,
    headers: { 'Retry-After': String(OUTAGE_RETRY_SECONDS) },
  },
  internal: {
    status: 500,
    code: 'internal',
    detail: 'this service made a mistake; its log has the request id',
  },
} as const satisfies Record<string, Problem>

/** The JSON of a problem. */
export function problemBody({ status, code, detail, retryable = false, fault, jobStatus }: Problem): string {
  const title = STATUS_CODES[status] ?? 'Error'
  const type = `urn:img42:problem:${code}`
  return JSON.stringify({ type, title, status, detail, code, retryable, fault, job_status: jobStatus })
}

export const PROBLEM_TYPE = 'application/problem+json'

/** The problem that the response is, if it is one. */
export function problemAnswered(response: ServerResponse): Problem | undefined {
  return answered.get(response)
}

const answered = new WeakMap<ServerResponse, Problem>()

/** Answers with a problem, so that it is read even by a client that is still sending its body. */
export function sendProblem(request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  answered.set(response, problem)
  const body = problemBody(problem)
  const headers = {
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    ...problem.headers,
  }
  response.statusCode = problem.status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  letBodyPass(request, response, body)
}
