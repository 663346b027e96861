import type { ErrorRequestHandler, RequestHandler } from 'express'
import { DeadlineExceeded } from '../../core/deadline.ts'
import { DependencyError } from '../../core/errors.ts'
import type { Log } from '../../infra/log.ts'
import { PROBLEMS, type Problem, ProblemError, sendProblem } from './problem.ts'
import { loggedJobId } from './request-log.ts'

/** The last handler: whatever a request ended with becomes a problem that says nothing of our insides. */
export function errorHandler(log: Log): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const problem = problemOf(error)
    const { requestId } = response.locals
    if (problem.status >= 500) {
      const level = problem === PROBLEMS.internal ? 'error' : 'warn'
      log[level]({ err: error, request_id: requestId, job_id: loggedJobId(response) }, problem.detail)
    }
    if (response.headersSent || response.destroyed) response.destroy()
    else sendProblem(request, response, problem)
  }
}

export const unknownExpectation: RequestHandler = ({ headers: { expect } }, _response, next) => {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return next()
  throw new ProblemError({
    status: 417,
    code: 'expectation_failed',
    detail: 'only 100-continue can be expected',
  })
}

export const notFound: RequestHandler = () => {
  throw new ProblemError(PROBLEMS.notFound)
}

export function methodNotAllowed(...allowed: string[]): RequestHandler {
  return ({ method }) => {
    throw new ProblemError({
      status: 405,
      code: 'method_not_allowed',
      detail: `${method} is not for this resource`,
      headers: { Allow: allowed.join(', ') },
    })
  }
}

function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem
  if (error instanceof DependencyError || error instanceof DeadlineExceeded) return PROBLEMS.unavailable
  // The router's only complaint about a request: a path that cannot be decoded.
  if (error instanceof URIError) return PROBLEMS.malformedUrl
  return PROBLEMS.internal
}
