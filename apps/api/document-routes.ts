import { createHash } from 'node:crypto'
import type { RequestHandler } from 'express'
import packageJson from '../../package.json' with { type: 'json' }
import { docsPage } from './docs-page.ts'
import { STYLE } from './docs-page-style.ts'
import { entityTag, namesTag } from './entity-tag.ts'
import { openapiDocument } from './openapi.ts'

/** `GET /openapi.json` and `GET /docs`: the same description, for programs and for people. */
export function documentRoutes(): { getOpenapi: RequestHandler; getDocs: RequestHandler } {
  const document = openapiDocument(packageJson.version)
  return {
    getOpenapi: fixed('application/json', JSON.stringify(document, null, 1)),
    getDocs: fixed('text/html; charset=utf-8', docsPage(document), {
      // The page's own style, and nothing else to load or run.
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash(STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    }),
  }
}

/** Answers with what does not change while the process lives. */
function fixed(contentType: string, text: string, headers: Record<string, string> = {}): RequestHandler {
  const body = Buffer.from(text)
  const tag = entityTag(hash(body, 'hex'))
  return (request, response) => {
    response.set({
      ...{ ETag: tag, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' },
      ...headers,
    })
    const known = request.headers['if-none-match']
    if (known !== undefined && namesTag(known, tag, { weakly: true })) response.status(304).end()
    else response.set('Content-Type', contentType).end(request.method === 'HEAD' ? undefined : body)
  }
}

function hash(data: string | Buffer, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(data).digest(encoding)
}
