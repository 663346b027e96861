import type { RequestListener } from 'node:http'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { startSpan } from '../../infra/tracing/spans.ts'
import { operationOf } from './observed-requests.ts'
import { OPERATIONS, type OperationId } from './schemas/operations.ts'

/**
 * Each request as a span named by its operation, `POST /v1/images`, in the trace that its `traceparent` names (W3C Trace
 * Context). Health checks are none: they come every few seconds for ever.
 */
export function traceRequests(app: RequestListener): RequestListener {
  return (request, response) => {
    const { method = '' } = request
    const operation = operationOf(method, request.url ?? '')
    if (operation === 'getHealth' || operation === 'getReadiness') return app(request, response)
    const route = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation as OperationId].path : null
    const traceparent = request.headers.traceparent
    const span = startSpan(route === null ? method : `${method} ${route}`, {
      kind: SpanKind.SERVER,
      parent: typeof traceparent === 'string' ? traceparent : null,
      attributes: { 'http.request.method': method, ...(route !== null && { 'http.route': route }) },
    })
    response.once('close', () => {
      if (response.headersSent) span.setAttribute('http.response.status_code', response.statusCode)
      if (response.headersSent && response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    })
    return context.with(trace.setSpan(context.active(), span), () => app(request, response))
  }
}
