import type { z } from 'zod'
import { createSchemaWriter, type JsonSchema } from './openapi-schema.ts'
import { answersOf, type FullAnswer, meaningOf, PROBLEM_TYPE } from './schemas/all-answers.ts'
import { webhookSchema } from './schemas/callback.ts'
import { requestIdHeader } from './schemas/headers.ts'
import { jobEventSchema } from './schemas/job.ts'
import type { Operation } from './schemas/operation.ts'
import { OPERATIONS } from './schemas/operations.ts'
import { problemSchema } from './schemas/problem.ts'

export interface OpenapiDocument {
  openapi: '3.1.1'
  info: { title: string; version: string; description: string; license: object }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  webhooks: Record<string, Record<string, object>>
  components: {
    schemas: Record<string, JsonSchema>
    headers: Record<string, DocumentedHeader>
    responses: Record<string, DocumentedAnswer>
    securitySchemes: object
  }
  security: object[]
}

export interface DocumentedOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security?: object[]
  parameters: DocumentedParameter[]
  requestBody?: { description: string; required: boolean; content: Record<string, { schema?: JsonSchema }> }
  responses: Record<string, DocumentedAnswer | Reference>
}

export interface DocumentedParameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

export interface DocumentedAnswer {
  description: string
  headers?: Record<string, DocumentedHeader | Reference>
  content?: Record<string, { schema?: JsonSchema }>
}

export interface DocumentedHeader {
  required: boolean
  description?: string
  schema: JsonSchema
}

export interface Reference {
  $ref: string
}

/** The description of the whole interface, made from the schemas that requests and answers are held to. */
export function openapiDocument(version: string): OpenapiDocument {
  const { write, components } = createSchemaWriter()
  const commonHeaders: Record<string, DocumentedHeader> = {}
  const commonAnswers: Record<string, DocumentedAnswer> = {}
  write(problemSchema)
  write(jobEventSchema)

  const paths: OpenapiDocument['paths'] = {}
  for (const [id, operation] of Object.entries(OPERATIONS) as [string, Operation][]) {
    const documented = document(id, operation)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: documented,
      ...(operation.method === 'get' && { head: headOf(documented) }),
    }
  }

  function document(operationId: string, operation: Operation): DocumentedOperation {
    const { tag, summary, description, open, params, query, requestHeaders, body } = operation
    return {
      operationId,
      tags: [tag],
      summary,
      ...(description && { description }),
      ...(open && { security: [] }),
      parameters: [
        ...parameters('path', params),
        ...parameters('query', query?.shape),
        ...parameters('header', { ...requestHeaders, 'X-Request-Id': requestIdHeader.optional() }),
      ],
      ...(body && {
        requestBody: {
          description: body.description,
          required: body.required,
          // Bytes as they are: OpenAPI 3.1 has no schema for them.
          content: Object.fromEntries(body.types.map((type) => [type, {}])),
        },
      }),
      responses: Object.fromEntries(
        [...answersOf(operation)].map(([status, answer]) => [String(status), shared(status, answer)]),
      ),
    }
  }

  function parameters(
    place: DocumentedParameter['in'],
    schemas: Record<string, z.ZodType> = {},
  ): DocumentedParameter[] {
    return Object.entries(schemas).map(([name, schema]) => {
      const { description, ...rest } = write(schema)
      const required = !schema.safeParse(undefined).success
      return { name, in: place, required, ...described(description), schema: rest }
    })
  }

  /** A problem that any operation may answer stands among the components. */
  function shared(status: number, answer: FullAnswer): DocumentedAnswer | Reference {
    const documented = documentAnswer(status, answer)
    if (!answer.common) return documented
    commonAnswers[`Problem${status}`] = documented
    return { $ref: `#/components/responses/Problem${status}` }
  }

  function documentAnswer(status: number, answer: FullAnswer): DocumentedAnswer {
    const headers = Object.entries(answer.headers).map(
      ([name, schema]) => [name, header(name, schema)] as const,
    )
    return {
      description: answer.codes ? problemDescription(status, answer) : answer.description,
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
      ...content(status, answer),
    }
  }

  /** Those that many answers share stand among the components. */
  function header(name: string, schema: z.ZodType): DocumentedHeader | Reference {
    const { description, ...rest } = write(schema)
    const written = {
      required: !schema.safeParse(undefined).success,
      ...described(description),
      schema: rest,
    }
    if (!SHARED_HEADERS.includes(name)) return written
    const component = written.required ? name : `${name}-maybe`
    commonHeaders[component] = written
    return { $ref: `#/components/headers/${component}` }
  }

  function content(status: number, { json, other, codes }: FullAnswer): Pick<DocumentedAnswer, 'content'> {
    if (codes) {
      const narrowed = { properties: { status: { const: status }, code: { enum: codes } } }
      const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, narrowed] }
      return { content: { [PROBLEM_TYPE]: { schema } } }
    }
    if (json) return { content: { 'application/json': { schema: write(json) } } }
    if (!other) return {}
    return {
      content: Object.fromEntries(
        other.map((type) => [type, type.startsWith('text/') ? { schema: { type: 'string' } } : {}]),
      ),
    }
  }

  return {
    openapi: '3.1.1',
    info: {
      title: 'img42',
      version,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: TAGS,
    paths,
    webhooks: { 'job ended': { post: webhook(write(webhookSchema)) } },
    components: {
      schemas: components,
      headers: commonHeaders,
      responses: commonAnswers,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `Authorization: Bearer img42_…`.',
        },
      },
    },
    security: [{ apiKey: [] }],
  }
}

const SHARED_HEADERS = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Retry-After']

function described(description: unknown): { description?: string } {
  return typeof description === 'string' ? { description } : {}
}

function problemDescription(status: number, { description, codes }: FullAnswer): string {
  const meanings = codes!.map((code) => `- \`${code}\`: ${meaningOf(status, code)}`)
  return `${description}\n\n${meanings.join('\n')}`
}

function headOf(get: DocumentedOperation): DocumentedOperation {
  const summary = `${get.summary}: the headers alone`
  return { ...get, operationId: `${get.operationId}Head`, summary, description: 'As GET, without the body.' }
}

function webhook(schema: JsonSchema): object {
  const signed = (name: string, description: string) => ({
    ...{ name, in: 'header', required: true, description },
    schema: { type: 'string' },
  })
  return {
    operationId: 'jobEnded',
    tags: ['Callbacks'],
    summary: 'A job has ended',
    description: 'Sent to the `callback_url`, signed as Standard Webhooks says.',
    security: [],
    parameters: [
      signed('webhook-id', 'The same for each try.'),
      signed('webhook-timestamp', 'When it was sent, in seconds since 1970.'),
      signed('webhook-signature', 'One or several, separated by spaces: `v1,` and base64.'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Taken. Anything else, a redirect too, is tried again.' },
      '410': { description: 'Not wanted any more: the endpoint is disabled.' },
    },
  }
}

const TAGS = [
  { name: 'Images', description: 'Images go in, thumbnails come out.' },
  { name: 'Jobs', description: 'What becomes of an image between the two.' },
  { name: 'Callbacks', description: 'Jobs that tell when they have ended.' },
  { name: 'Service', description: 'About the service itself; no key needed.' },
]

const INTRODUCTION = `Send an image, get \`202\` and a job, fetch the thumbnail a moment later.

Everything that is refused is an RFC 9457 problem with a stable \`code\`. A path that leads nowhere is a 404 \
(\`not_found\`), a method that a resource has not a 405 (\`method_not_allowed\`) with \`Allow\`. Fields may be added to \
answers at any time: ignore what you do not know, and ask \`done\` whether a job has ended.`
