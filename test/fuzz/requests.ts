import fc from 'fast-check'
import type { DocumentedOperation, DocumentedParameter, OpenapiDocument } from '../../apps/api/openapi.ts'
import type { JsonSchema } from '../../apps/api/openapi-schema.ts'

/** A request as it will be sent: the names of its parts are those of the document. */
export interface FuzzRequest {
  method: string
  template: string
  path: string
  query: [name: string, value: string][]
  headers: [name: string, value: string][]
  /** The Content-Type and the bytes. */
  body: { type: string | null; bytes: Buffer } | null
}

/** What the service knows, so that a part of the requests is about something. */
export interface Known {
  jobIds: string[]
  /** Those that may be deleted: the others stay what they are, whatever comes. */
  spareJobIds: string[]
  images: Buffer[]
}

/**
 * Requests made from the document: each operation, each parameter with values that fit its schema, that nearly do, or
 * that do not at all; parameters that are missing, unknown, or there twice; bodies that are images, broken ones, others.
 */
export function requestsOf(document: OpenapiDocument, known: Known): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      // Most of what can go wrong is behind the upload, and next to nothing behind the pages.
      weight: operation.requestBody ? 8 : operation.security ? 1 : 3,
      arbitrary: requestOf(template, method, operation, known),
    })),
  )
  const stray = fc
    .constantFrom(...Object.keys(document.paths))
    .chain((template) =>
      fc
        .constantFrom('PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS')
        .chain((method) => requestOf(template, method, Object.values(document.paths[template]!)[0]!, known)),
    )
  return fc.oneof({ weight: 15, arbitrary: fc.oneof(...operations) }, { weight: 1, arbitrary: stray })
}

function requestOf(
  template: string,
  method: string,
  { parameters, requestBody }: DocumentedOperation,
  known: Known,
): fc.Arbitrary<FuzzRequest> {
  const of = (place: DocumentedParameter['in']) => parameters.filter((parameter) => parameter.in === place)
  return fc
    .record({
      path: pathOf(
        template,
        of('path'),
        method === 'delete' ? { ...known, jobIds: known.spareJobIds } : known,
      ),
      query: queryOf(of('query')),
      headers: headersOf(of('header')),
      body:
        requestBody && method === 'post'
          ? bodyOf(Object.keys(requestBody.content), known)
          : fc.constant(null),
    })
    .map((parts) => ({ method: method.toUpperCase(), template, ...parts }))
}

function pathOf(template: string, parameters: DocumentedParameter[], known: Known): fc.Arbitrary<string> {
  const values = parameters.map(({ name, schema }) => {
    const named = name === 'id' ? known.jobIds : name === 'output' ? ['thumbnail', 'original'] : []
    const other = mostly(valuesOf(schema), nearly(valuesOf(schema))).filter((value) => value !== '')
    return named.length > 0 ? fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...named) }, other) : other
  })
  return fc.tuple(...values).map((chosen) => {
    let i = 0
    return template.replace(/\{\w+\}/g, () => encodeURIComponent(chosen[i++]!).replace(/^\.+$/, '%2e'))
  })
}

function queryOf(parameters: DocumentedParameter[]): fc.Arbitrary<[string, string][]> {
  const known = fc.tuple(
    ...parameters.map(({ name, schema }) =>
      sometimes(mostly(valuesOf(schema), nearly(valuesOf(schema))), 4).map(named(name)),
    ),
  )
  const stray = fc.oneof(
    { weight: 30, arbitrary: fc.constant(null) },
    fc.tuple(fc.constantFrom('Limit', 'x', '__proto__', 'id', 'expires_in ', ''), text()),
  )
  const twice = fc.oneof({ weight: 30, arbitrary: fc.constant(false) }, fc.constant(true))
  return fc.tuple(known, stray, twice).map(([pairs, extra, again]) => {
    const query = [...pairs, extra].filter((pair) => pair !== null)
    return again ? [...query, ...query.slice(0, 1)] : query
  })
}

function headersOf(parameters: DocumentedParameter[]): fc.Arbitrary<[string, string][]> {
  const known = fc.tuple(
    ...parameters.map(({ name, schema }) =>
      // An expectation holds the request back for a while, and only few are to be.
      sometimes(mostly(valuesOf(schema), nearly(valuesOf(schema))), name === 'Expect' ? 40 : 2).map(
        named(name),
      ),
    ),
  )
  const twice = fc.oneof({ weight: 30, arbitrary: fc.constant(false) }, fc.constant(true))
  return fc.tuple(known, twice).map(([pairs, again]) => {
    const headers = pairs
      .filter((pair) => pair !== null)
      .map(([name, value]) => [name, sendable(value)] as [string, string])
    return again ? [...headers, ...headers.slice(0, 1)] : headers
  })
}

function bodyOf(types: string[], { images }: Known): fc.Arbitrary<FuzzRequest['body']> {
  const image = fc.constantFrom(...images)
  const broken = fc.tuple(image, fc.nat(), fc.nat(255), fc.boolean()).map(([bytes, at, value, cut]) => {
    const copy = Buffer.from(cut ? bytes.subarray(0, at % bytes.length) : bytes)
    if (copy.length > 0) copy[at % copy.length] = value
    return copy
  })
  const bytes = fc.oneof(
    { weight: 4, arbitrary: image },
    { weight: 3, arbitrary: broken },
    fc.uint8Array({ maxLength: 2_000 }).map((array) => Buffer.from(array)),
  )
  const type = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<(string | null)[]>(...types, null) },
    fc.constantFrom(
      'text/plain',
      'image/svg+xml',
      'multipart/form-data; boundary=x',
      'image/',
      'IMAGE/PNG; q=1',
      '/',
    ),
  )
  return fc.record({ type, bytes })
}

/** Values that fit a schema; of the schemas that parameters have. */
function valuesOf(schema: JsonSchema): fc.Arbitrary<string> {
  const {
    type,
    format,
    pattern,
    minimum = 0,
    maximum = 2 ** 31,
    minLength,
    maxLength,
  } = schema as Record<string, never>
  const fixed = (schema.enum ?? (schema.const === undefined ? undefined : [schema.const])) as
    | string[]
    | undefined
  if (fixed) return fc.constantFrom(...fixed)
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum }).map(String)
  if (format === 'date-time') {
    return fc
      .date({ min: new Date(0), max: new Date('2999-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
  }
  if (format === 'uri') return fc.webUrl({ withQueryParameters: true })
  if (pattern) {
    return fc.stringMatching(new RegExp(pattern)).filter((value) => value.length <= (maxLength ?? 300))
  }
  return fc.string({ minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 50, 300) })
}

/** A value with one thing wrong, or everything. */
function nearly(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    values.map((value) => value.slice(0, -1)),
    values.map((value) => `${value}${value || '0'}`),
    fc
      .tuple(values, fc.constantFrom('\0', ' ', '\r\nX-Injected: 1', '/../', '%', 'é', "'", '"', '﷽'))
      .map(([value, odd]) => value + odd),
    values.map((value) => (value.toUpperCase() === value ? value.toLowerCase() : value.toUpperCase())),
    fc.constantFrom('', '-1', '0', '1e3', '0x10', '99999999999999999999', 'null', '[]', '../../etc/passwd'),
    text(),
  )
}

function text(): fc.Arbitrary<string> {
  return fc.string({ unit: 'binary', maxLength: 40 })
}

function mostly<T>(these: fc.Arbitrary<T>, those: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 3, arbitrary: these }, { weight: 1, arbitrary: those })
}

function sometimes<T>(values: fc.Arbitrary<T>, oneIn = 2): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: values })
}

function named(name: string): (value: string | null) => [string, string] | null {
  return (value) => (value === null ? null : [name, value])
}

/** What an HTTP client can send as a header at all: raw sockets have tests of their own. */
function sendable(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
  return value.replace(/[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/g, '')
}
