import { openapiDocument } from './openapi.ts'
import type { JsonSchema } from './openapi-schema.ts'
import { PROBLEM_MEANINGS } from './schemas/problem-codes.ts'

/** The source of `client/types.ts`: the bodies of the document as TypeScript, for a client that has no zod. */
export function clientTypes(): string {
  const { schemas } = openapiDocument('').components
  const types = Object.entries(schemas).map(
    ([name, schema]) => `${comment(schema, '')}export type ${name} = ${typeOf(schema, '')}\n`,
  )
  const codes = Object.keys(PROBLEM_MEANINGS).map((code) => `  | '${code}'\n`)
  return `// Made by \`npm run client:types\` from the schemas of the API. Not to be edited.

${types.join('\n')}
/** Every code that a problem may have, beside those of failed jobs. */
export type ProblemCode =
${codes.join('')}`
}

function typeOf(schema: JsonSchema, indent: string): string {
  const { $ref, enum: values, type } = schema as { $ref?: string; enum?: string[]; type?: string | string[] }
  if ($ref) return $ref.split('/').at(-1)!
  if (values) return values.map((value) => literal(value)).join(' | ')
  if (schema.const !== undefined) return literal(schema.const)
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(' | ')
  switch (type) {
    case 'object':
      return objectType(schema, indent)
    case 'array':
      return listOf(schema.items as JsonSchema, indent)
    case 'integer':
      return 'number'
    default:
      return type ?? 'unknown'
  }
}

function objectType({ properties = {}, required = [] }: JsonSchema, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties as Record<string, JsonSchema>).map(([name, property]) => {
    const mark = (required as string[]).includes(name) ? '' : '?'
    return `${comment(property, inner)}${inner}${name}${mark}: ${typeOf(property, inner)}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}

function comment({ description }: JsonSchema, indent: string): string {
  return description ? `${indent}/** ${description} */\n` : ''
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function listOf(items: JsonSchema, indent: string): string {
  const type = typeOf(items, indent)
  return items.enum || Array.isArray(items.type) ? `(${type})[]` : `${type}[]`
}
