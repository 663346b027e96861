import type { DocumentedOperation, OpenapiDocument } from '../../apps/api/openapi.ts'

/**
 * What is wrong with a document by the rules of OpenAPI 3.1 that generators stumble over, in sentences. Not every rule:
 * those that a document made by a program can break.
 */
export function openapiFaults(document: OpenapiDocument): string[] {
  const faults: string[] = []
  const tags = new Set(document.tags.map(({ name }) => name))
  const operationIds = new Set<string>()
  if (!/^3\.1\.\d+$/.test(document.openapi)) faults.push(`openapi is ${document.openapi}`)
  if (!document.info.title || !document.info.version) faults.push('info lacks title or version')

  for (const [path, operations] of Object.entries(document.paths)) {
    if (!path.startsWith('/')) faults.push(`${path} does not begin with /`)
    for (const [method, operation] of Object.entries(operations)) {
      const say = (what: string) => faults.push(`${path} ${method}: ${what}`)
      if (!METHODS.has(method)) say('this is no method')
      for (const what of operationFaults(path, operation)) say(what)
      if (operationIds.has(operation.operationId)) say(`another operation is called ${operation.operationId}`)
      operationIds.add(operation.operationId)
      for (const tag of operation.tags) if (!tags.has(tag)) say(`the tag ${tag} is not described`)
    }
  }
  for (const kind of Object.values(document.components)) {
    for (const name of Object.keys(kind)) {
      if (!/^[\w.-]+$/.test(name)) faults.push(`a component is called ${name}`)
    }
  }
  for (const reference of references(document)) {
    if (!resolves(document, reference)) faults.push(`${reference} leads nowhere`)
  }
  for (const { type } of schemas(document)) {
    const types = Array.isArray(type) ? type : [type]
    for (const one of types) if (!TYPES.has(one as string)) faults.push(`there is no type ${one}`)
  }
  return faults
}

function* operationFaults(
  path: string,
  { parameters, responses, requestBody }: DocumentedOperation,
): Generator<string> {
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!))
  const seen = new Set<string>()
  for (const { name, in: place, required, schema } of parameters) {
    const id = `${place} ${name.toLowerCase()}`
    if (seen.has(id)) yield `${name} stands twice`
    seen.add(id)
    if (!['path', 'query', 'header', 'cookie'].includes(place)) yield `${name} is in ${place}`
    if (!schema) yield `${name} has no schema`
    if (place === 'header' && /^(accept|content-type|authorization)$/i.test(name)) yield `${name} is ignored`
    if (place !== 'path') continue
    if (!required) yield `{${name}} is not required`
    if (!inPath.delete(name)) yield `{${name}} is not in the path`
  }
  for (const name of inPath) yield `{${name}} is no parameter`
  if (requestBody && Object.keys(requestBody.content).length === 0) yield 'the body has no type'
  if (Object.keys(responses).length === 0) yield 'there is no answer'
  for (const [status, answer] of Object.entries(responses)) {
    if (!/^[1-5](\d\d|XX)$/.test(status)) yield `${status} is no status`
    if (!('$ref' in answer) && !answer.description) yield `${status} is not described`
  }
}

function* references(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, value] of Object.entries(node)) {
    if (name === '$ref' && typeof value === 'string') yield value
    else yield* references(value)
  }
}

function resolves(document: object, reference: string): boolean {
  if (!reference.startsWith('#/')) return false
  let node: unknown = document
  for (const name of reference.slice(2).split('/'))
    node = (node as Record<string, unknown> | undefined)?.[name]
  return node !== undefined
}

/** Everything below that looks like a schema with a type. */
function* schemas(node: unknown): Generator<{ type: unknown }> {
  if (typeof node !== 'object' || node === null) return
  const { type } = node as { type?: unknown }
  if ((typeof type === 'string' && node !== null && !('scheme' in node)) || Array.isArray(type))
    yield { type }
  for (const value of Object.values(node)) yield* schemas(value)
}

const METHODS = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace'])
const TYPES = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null'])
