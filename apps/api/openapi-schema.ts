import { z } from 'zod'

export type JsonSchema = { [keyword: string]: unknown }

/** Collects the schemas that have an id, so that each stands once among the document's components. */
export function createSchemaWriter() {
  const components: Record<string, JsonSchema> = {}

  /** The JSON schema of what `schema` lets pass. */
  function write(schema: z.ZodType): JsonSchema {
    // Wrapped, or a schema that has an id itself would be written out in its place.
    const wrapped = z.toJSONSchema(z.object({ it: schema }), {
      io: 'output',
      override: ({ jsonSchema }) => tidy(jsonSchema),
    }) as unknown as { properties: { it: JsonSchema }; $defs?: Record<string, JsonSchema> }
    for (const [id, definition] of Object.entries(wrapped.$defs ?? {}))
      components[id] = asComponent(definition)
    return asComponent(wrapped.properties.it)
  }

  return { write, components }
}

/** Leaves out what only makes sense within zod, and what would forbid the service to add to its answers. */
function tidy(schema: JsonSchema): void {
  delete schema.additionalProperties
  if (schema.format === 'starts_with') delete schema.format
  // Of dates: a page of it, saying what the format says.
  if (schema.format === 'date-time') delete schema.pattern
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

function asComponent(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema
}
