import type { z } from 'zod'
import {
  answersOf,
  type FullAnswer,
  isRetryable,
  PROBLEM_TYPE,
  UNROUTED,
} from '../../apps/api/schemas/all-answers.ts'
import type { Operation } from '../../apps/api/schemas/operation.ts'
import { OPERATIONS } from '../../apps/api/schemas/operations.ts'
import type { ProblemBody } from '../../apps/api/schemas/problem.ts'

/** An answer that is not as the document describes it. */
export class ContractBroken extends Error {
  constructor(request: string, status: number, wrong: string[]) {
    super(`${request} → ${status} breaks the contract:\n  ${wrong.join('\n  ')}`)
    this.name = 'ContractBroken'
  }
}

/**
 * `fetch`, and the answer is held against the document: its status, headers, type and body.
 *
 * @throws {ContractBroken} when it is not what the operation may answer
 */
export async function checkedFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const method = init.method ?? 'GET'
  // An event stream has no end to wait for.
  const endless = response.headers.get('content-type')?.startsWith('text/event-stream')
  const body = endless ? null : Buffer.from(await response.clone().arrayBuffer())
  checkAnswer(method, new URL(url).pathname, { status: response.status, headers: response.headers, body })
  return response
}

export interface ReceivedAnswer {
  status: number
  headers: Headers
  /** null: not looked at. */
  body: Buffer | null
}

/** @throws {ContractBroken} */
export function checkAnswer(method: string, path: string, answer: ReceivedAnswer): void {
  const wrong = [...faults(method, path, answer)]
  if (wrong.length > 0) throw new ContractBroken(`${method} ${path}`, answer.status, wrong)
}

function* faults(method: string, path: string, { status, headers, body }: ReceivedAnswer): Generator<string> {
  const allowed = answersTo(method, path).get(status)
  if (!allowed) {
    yield `this status is not declared${body && `; the body: ${body.toString('utf8', 0, 500)}`}`
    return
  }
  yield* headerFaults(allowed, headers)
  const type = headers.get('content-type')?.split(';')[0] ?? null
  const types = typesOf(allowed)
  if (types.length === 0) {
    if (type !== null || (body && body.length > 0)) yield `there is a body (${type}), and none is declared`
    return
  }
  if (type === null || !types.includes(type))
    yield `the Content-Type is ${type}, declared is ${types.join(', ')}`
  if (method === 'HEAD') {
    if (body && body.length > 0) yield 'HEAD has a body'
  } else if (allowed.json && body) yield* jsonFaults(allowed, allowed.json, status, body)
}

function* headerFaults(allowed: FullAnswer, headers: Headers): Generator<string> {
  for (const [name, schema] of Object.entries(allowed.headers)) {
    const value = headers.get(name) ?? undefined
    const parsed = schema.safeParse(value)
    if (!parsed.success) yield `${name}: ${value} – ${sentences(parsed.error)}`
  }
  const declared = new Set(Object.keys(allowed.headers).map((name) => name.toLowerCase()))
  for (const [name, value] of headers) {
    if (!declared.has(name) && !TRANSPORT.has(name)) yield `${name}: ${value} is not declared`
  }
}

function* jsonFaults(
  allowed: FullAnswer,
  schema: z.ZodType,
  status: number,
  body: Buffer,
): Generator<string> {
  let json: unknown
  try {
    json = JSON.parse(body.toString())
  } catch {
    yield `the body is no JSON: ${body.toString('utf8', 0, 200)}`
    return
  }
  const parsed = schema.safeParse(json)
  if (!parsed.success) {
    yield `the body: ${sentences(parsed.error)}`
  } else if (allowed.codes) {
    const { code, retryable } = json as ProblemBody
    if (retryable !== isRetryable(status, code)) yield `${code} says retryable: ${retryable}`
  }
}

/** What may be answered to a method and a path, whatever the rest of the request. */
function answersTo(method: string, path: string): Map<number, FullAnswer> {
  const operations = (Object.values(OPERATIONS) as Operation[]).filter((operation) =>
    fits(operation.path, path),
  )
  if (operations.length === 0) return new Map([...CLOSED, ...UNROUTED])
  const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
  const operation = operations.find((candidate) => candidate.method === wanted)
  return operation ? answersOf(operation) : new Map([...CLOSED, ...UNROUTED])
}

/** What a request is answered that no operation sees: refused before. */
const CLOSED = [...answersOf({ method: 'get', path: '/', tag: 'Service', summary: '', answers: {} })]

function fits(template: string, path: string): boolean {
  const pattern = template.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}/?$`).test(path)
}

function typesOf({ json, codes, other = [] }: FullAnswer): readonly string[] {
  if (codes) return [PROBLEM_TYPE]
  return json ? ['application/json'] : other
}

function sentences(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; ')
}

/** Of HTTP itself, and of browsers that come from another origin. */
const TRANSPORT = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'access-control-allow-origin',
  'access-control-expose-headers',
])
