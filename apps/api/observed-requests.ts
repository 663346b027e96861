import type { RequestListener } from 'node:http'
import { Histogram, type Registry } from 'prom-client'
import { countFrom0, eachOf } from '../../infra/metrics/registry.ts'
import { problemAnswered } from './problem.ts'
import { problemCodesOf } from './schemas/all-answers.ts'
import { OPERATIONS } from './schemas/operations.ts'

/** Measures requests by the operation that they ask for, never by their URL, and counts what became of uploads. */
export function observeRequests(registry: Registry, app: RequestListener): RequestListener {
  const seconds = new Histogram({
    name: 'img42_http_request_seconds',
    help: 'Requests, from their headers to the end of the answer',
    labelNames: ['operation', 'status'] as const,
    buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 60],
    registers: [registry],
  })
  const admissions = countFrom0(
    ...([registry, 'img42_admissions_total', 'Uploads answered 202'] as const),
    ['outcome'],
    eachOf('outcome', ['accepted', 'replayed']),
  )
  const refusals = countFrom0(
    ...([registry, 'img42_admission_refusals_total', 'Uploads refused'] as const),
    ['code'],
    eachOf('code', problemCodesOf(OPERATIONS.postImage)),
  )
  return (request, response) => {
    const startedAt = performance.now()
    const operation = operationOf(request.method ?? '', request.url ?? '')
    response.once('close', () => {
      const status = response.headersSent ? String(response.statusCode) : 'none'
      seconds.observe({ operation, status }, (performance.now() - startedAt) / 1_000)
      if (operation !== 'postImage') return
      const problem = problemAnswered(response)
      if (problem) refusals.inc({ code: problem.code })
      else if (status === '202') {
        admissions.inc({ outcome: response.hasHeader('Idempotent-Replayed') ? 'replayed' : 'accepted' })
      }
    })
    return app(request, response)
  }
}

/** By the request's line, because what is refused before the routes is asked for all the same. */
export function operationOf(method: string, url: string): string {
  const [path = ''] = url.split('?', 1)
  const asked = method === 'HEAD' ? 'GET' : method
  return ROUTES.find((route) => route.method === asked && route.path.test(path))?.operation ?? 'none'
}

const ROUTES = Object.entries(OPERATIONS).map(([operation, { method, path }]) => ({
  operation,
  method: method.toUpperCase(),
  path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}))
