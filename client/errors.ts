import type { JobError, Problem, ProblemCode } from './types.ts'

/** The service refused the request. {@link code} is stable: decide by it. */
export class ProblemError extends Error {
  readonly status: number
  /** Of a newer service it may be one that these types do not know. */
  readonly code: ProblemCode | JobError['code'] | (string & {})
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** When to try again, where the service says so. */
  readonly retryAfterSeconds: number | null
  /** The service's log knows the request by it. */
  readonly requestId: string | null
  /** All that the service said. */
  readonly problem: Partial<Problem>

  constructor(response: Response, problem: Partial<Problem>) {
    super(problem.detail ?? `the service answered ${response.status}`)
    this.name = 'ProblemError'
    this.status = response.status
    this.code = problem.code ?? `http_${response.status}`
    this.retryable = problem.retryable ?? false
    this.retryAfterSeconds = retryAfterSeconds(response)
    this.requestId = response.headers.get('x-request-id')
    this.problem = problem
  }
}

/** There was no answer, or it broke off, each time; whether the last request had its effect is unknown. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super('the service could not be reached, or its answer broke off', { cause })
    this.name = 'ConnectionError'
  }
}

/** Whatever stands between a client and the service may answer without a problem. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const text = await response.text().catch(() => '')
  let problem: Partial<Problem> = {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) problem = parsed
  } catch {
    // Then the status has to do.
  }
  return new ProblemError(response, problem)
}

/** Retry-After, which is a number of seconds or, from proxies, a date. */
export function retryAfterSeconds({ headers }: Response): number | null {
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  if (/^\d+$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000))
}
