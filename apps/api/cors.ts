import type { RequestHandler } from 'express'

/** What scripts of other origins may read of an answer, beside what every browser lets them read. */
const EXPOSED = [
  'Location',
  'Retry-After',
  'Idempotent-Replayed',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'ETag',
  'Content-Range',
  'Content-Disposition',
  'X-Request-Id',
].join(', ')

const ALLOWED_METHODS = 'GET, HEAD, POST, DELETE'
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Content-Digest',
  'Idempotency-Key',
  'Prefer',
  'Last-Event-ID',
  'Range',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'X-Request-Id',
].join(', ')
/** How long a browser remembers a preflight; the longest that any heeds. */
const MAX_AGE_SECONDS = 7_200

/**
 * Lets browsers' scripts from `origins` use the API. Off where there are none: then no answer speaks of origins at all.
 * Cookies and other credentials of the browser's own are never asked for: a script sends its key itself.
 *
 * Stands before the authentication, because a preflight carries no key.
 */
export function cors(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins)
  return ({ method, headers }, response, next) => {
    if (allowed.size === 0) return next()
    // A cache must not give one origin's answer to another, whichever came first.
    response.vary('Origin')
    if (headers.origin === undefined || !allowed.has(headers.origin)) return next()
    response.set({
      'Access-Control-Allow-Origin': headers.origin,
      'Access-Control-Expose-Headers': EXPOSED,
    })
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return next()
    response
      .status(204)
      .set({
        'Access-Control-Allow-Methods': ALLOWED_METHODS,
        'Access-Control-Allow-Headers': ALLOWED_HEADERS,
        'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
      })
      .end()
  }
}
