import type { RequestHandler } from 'express'
import { ProblemError } from './problem.ts'

/** Refuses an HTTP/1.1 request that names no host, or two (RFC 9112, 3.2): proxies disagree about whose it is. */
export const requireHost: RequestHandler = ({ httpVersion, headersDistinct }, _response, next) => {
  if (headersDistinct.host?.length === 1 || (!headersDistinct.host && httpVersion === '1.0')) return next()
  throw new ProblemError({
    status: 400,
    code: 'host_missing',
    detail: 'an HTTP/1.1 request has exactly one Host header',
    headers: { Connection: 'close' },
  })
}
