import type { Express, RequestHandler } from 'express'
import { methodNotAllowed } from './error-handler.ts'
import { readQuery } from './read-query.ts'
import type { Operation } from './schemas/operation.ts'
import { OPERATIONS, type OperationId } from './schemas/operations.ts'

/** What answers each operation. */
export type Handlers = Record<OperationId, RequestHandler<never>>

/** Gives each operation its route, and each of their paths an answer to the methods that it has not. */
export function addRoutes(app: Express, handlers: Handlers): void {
  const byPath = new Map<string, [Operation, RequestHandler][]>()
  for (const [id, operation] of Object.entries(OPERATIONS)) {
    const handler = handlers[id as OperationId] as RequestHandler
    byPath.set(operation.path, [...(byPath.get(operation.path) ?? []), [operation, handler]])
  }
  for (const [path, operations] of byPath) {
    const route = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'))
    for (const [operation, handler] of operations) route[operation.method](checkQuery(operation), handler)
    const methods = operations.map(([{ method }]) => method.toUpperCase())
    route.all(methodNotAllowed(...methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]))))
  }
}

/** So that no operation takes a parameter that it does not know for one that it heeds. */
function checkQuery(operation: Operation): RequestHandler {
  return (request, _response, next) => {
    readQuery(operation, request)
    next()
  }
}
