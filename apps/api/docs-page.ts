import { JOB_ERRORS } from '../../core/job-errors.ts'
import { type Html, html, inline, prose } from './docs-page-html.ts'
import { STYLE } from './docs-page-style.ts'
import type {
  DocumentedAnswer,
  DocumentedHeader,
  DocumentedOperation,
  DocumentedParameter,
  OpenapiDocument,
  Reference,
} from './openapi.ts'
import type { JsonSchema } from './openapi-schema.ts'
import { PROBLEM_MEANINGS, type ProblemMeaning } from './schemas/problem-codes.ts'

type Answers = [status: string, answer: DocumentedAnswer | Reference][]

interface Entry {
  method: string
  path: string
  operation: DocumentedOperation
}

/** The document as a page: no script, nothing loaded from anywhere. */
export function docsPage(document: OpenapiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      // HEAD is named beside GET.
      .filter(([method]) => method !== 'head')
      .map(([method, operation]): Entry => ({ method, path, operation })),
  )
  const { title, version, description } = document.info
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: HTTP interface</title>
<style>${{ html: STYLE }}</style>
<nav>${contents(document, entries)}</nav>
<main>
<h1>${title} <small>${version}</small></h1>
${prose(description)}
<p>The same for programs: <a href="/openapi.json">openapi.json</a>. Everything under <code>/v1</code> needs a key:
<code>Authorization: Bearer img42_…</code></p>
${example()}
${document.tags.map(({ name, description }) => [
  html`<h2 class="tag" id="${name.toLowerCase()}">${name}</h2>${prose(description)}`,
  ...entries.filter(({ operation }) => operation.tags[0] === name).map((entry) => article(document, entry)),
])}
${webhook(document)}
<h2 class="tag" id="any">Any request</h2>
<p>Every answer has an <code>X-Request-Id</code>; one of a tenant’s key has <code>RateLimit</code> and
<code>RateLimit-Policy</code>. Any request may get:</p>
<article>${Object.entries(document.components.responses).map(([name, answer]) => {
    const status = name.replace(/\D/g, '')
    return html`<div id="any-${status}">${answerSection(document, status, answer)}</div>`
  })}</article>
<h2 class="tag" id="schemas">Bodies</h2>
${Object.entries(document.components.schemas).map(([name, schema]) => schemaSection(name, schema))}
<h2 class="tag" id="problems">Problems</h2>
<p>The <code>code</code> of <code>application/problem+json</code>.</p>
${codeTable('problem', Object.entries<ProblemMeaning>(PROBLEM_MEANINGS))}
<h2 class="tag" id="job-errors">Errors of jobs</h2>
<p>The <code>error.code</code> of a job that FAILED; retryable says whether the same image may succeed, sent again.</p>
${codeTable('job-error', Object.entries<{ retryable?: boolean; meaning: string }>(JOB_ERRORS))}
</main>
</html>
`
  return page.html
}

function contents(document: OpenapiDocument, entries: Entry[]): Html[] {
  return [
    ...document.tags.map(
      ({ name }) =>
        html`<h2>${name}</h2><ul>${entries
          .filter(({ operation }) => operation.tags[0] === name)
          .map(
            ({ method, operation }) =>
              html`<li><span class="method ${method}">${method.toUpperCase()}</span><a href="#${operation.operationId}">${operation.summary}</a>`,
          )}</ul>`,
    ),
    html`<h2>Reference</h2><ul><li><a href="#jobEnded">The callback</a><li><a href="#any">Any request</a><li><a href="#schemas">Bodies</a><li><a
href="#problems">Problems</a><li><a href="#job-errors">Errors of jobs</a></ul>`,
  ]
}

function example(): Html {
  return html`<pre>curl -i --data-binary @photo.jpg -H 'Content-Type: image/jpeg' \\
     -H 'Authorization: Bearer img42_…' -H 'Idempotency-Key: my-first-image' \\
     -H 'Prefer: wait=10' https://img42.example/v1/images</pre>`
}

function article(document: OpenapiDocument, { method, path, operation }: Entry): Html {
  const { operationId, summary, description, security, parameters, requestBody, responses } = operation
  const [common, own] = [true, false].map((shared) =>
    Object.entries(responses).filter(([, answer]) => '$ref' in answer === shared),
  ) as [Answers, Answers]
  return html`<article id="${operationId}">
${security && html`<span class="open">no key needed</span>`}
<h3>${summary}</h3>
<p class="line"><span class="method ${method}">${method === 'get' ? 'GET, HEAD' : method.toUpperCase()}</span>${path}</p>
${prose(description)}
${parameterTable(parameters)}
${
  requestBody &&
  html`<h4>Body</h4><p>${inline(requestBody.description)} <span class="dim">${Object.keys(requestBody.content).join(', ')}</span></p>`
}
<h4>Answers</h4>
${own.map(([status, answer]) => answerSection(document, status, answer))}
<p class="dim">And what any request may get: ${common.map(([status], i) => html`${i > 0 && ', '}<a href="#any-${status}">${status}</a>`)}.</p>
</article>`
}

function parameterTable(parameters: DocumentedParameter[]): Html | false {
  if (parameters.length === 0) return false
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      html`<tr><td><code>${name}</code><td class="dim">${place}<td>${inline(description)} ${required && html`Required. `}${limits(schema)}`,
  )
  return html`<h4>Parameters</h4><table>${rows}</table>`
}

function answerSection(
  document: OpenapiDocument,
  status: string,
  answer: DocumentedAnswer | Reference,
): Html {
  const { description, headers = {}, content = {} } = resolve(document, answer)
  const [title, ...more] = description.split('\n\n')
  const own = Object.entries(headers).filter(([name]) => !/^(X-Request-Id|RateLimit)/.test(name))
  const rows = own.map(([name, header]) => {
    const { required, description, schema } = resolve<DocumentedHeader>(document, header)
    return html`<tr><td><code>${name}</code><td>${inline(description)} ${!required && html`Not always. `}${limits(schema)}`
  })
  return html`<details${Number(status) < 300 && { html: ' open' }}><summary><b>${status}</b>${title}</summary>
${prose(more.join('\n\n'))}
${Object.entries(content).map(([type, { schema }]) => html`<p><code>${type}</code> ${schema && typeOf(schema)}</p>`)}
${rows.length > 0 && html`<table>${rows}</table>`}
</details>`
}

function schemaSection(name: string, schema: JsonSchema): Html {
  return html`<article id="schema-${name}"><h3>${name}</h3>${prose((schema.description as string) ?? '')}${
    schema.properties ? propertyTable(schema) : html`<p>${limits(schema)}</p>`
  }</article>`
}

function propertyTable(schema: JsonSchema): Html {
  const required = (schema.required ?? []) as string[]
  const rows = Object.entries(schema.properties as Record<string, JsonSchema>).map(
    ([name, property]) =>
      html`<tr><td><code>${name}</code><td>${inline((property.description as string) ?? '')} ${
        !required.includes(name) && html`<span class="dim">Optional.</span> `
      }${typeOf(property)}`,
  )
  return html`<table>${rows}</table>`
}

function webhook(document: OpenapiDocument): Html {
  const { post } = Object.values(document.webhooks)[0] as { post: DocumentedOperation }
  return html`<article id="jobEnded"><h3>${post.summary}</h3><p class="line"><span class="method post">POST</span>your callback_url</p>
${prose(post.description)}${parameterTable(post.parameters)}
<h4>Body</h4><p>${typeOf(Object.values(post.requestBody!.content)[0]!.schema!)}</p>
<h4>Your answer</h4>${Object.entries(post.responses).map(([status, answer]) => answerSection(document, status, answer))}</article>`
}

function codeTable(
  prefix: string,
  codes: [string, { status?: number; retryable?: boolean; meaning: string }][],
): Html {
  const rows = codes.map(
    ([code, { status, retryable, meaning }]) =>
      html`<tr id="${prefix}-${code}"><td><code>${code}</code>${status && html`<td>${status}`}<td>${retryable ? 'retryable' : ''}<td>${inline(meaning)}`,
  )
  return html`<table>${rows}</table>`
}

/** A type in a word or two, linked where it has a section of its own. */
function typeOf(schema: JsonSchema): Html {
  const reference = (schema.$ref ?? (schema.allOf as JsonSchema[] | undefined)?.[0]?.$ref) as
    | string
    | undefined
  if (reference) {
    const name = reference.split('/').at(-1)!
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (schema.type === 'array')
    return html`<span class="type">a list of</span> ${typeOf(schema.items as JsonSchema)}`
  if (schema.properties) return propertyTable(schema)
  return limits(schema)
}

/** What a value may be, in the schema's own terms. */
function limits(schema: JsonSchema): Html {
  const { type, format, minimum, maximum, minLength, maxLength, pattern, examples, default: preset } = schema
  const values = (schema.enum ?? (schema.const === undefined ? undefined : [schema.const])) as
    | string[]
    | undefined
  const said = [
    values ? undefined : (format ?? (Array.isArray(type) ? type.join(' or ') : type)),
    minimum !== undefined && maximum !== undefined
      ? `${minimum}–${maximum}`
      : minimum !== undefined && `≥ ${minimum}`,
    maxLength !== undefined && `${minLength ?? 0}–${maxLength} characters`,
    preset !== undefined && `default ${preset}`,
  ]
  return html`<span class="type">${said.filter(Boolean).join(', ')}</span>${
    values && html`${values.map((value, i) => html`${i > 0 && ', '}<code>${value}</code>`)}`
  }${pattern !== undefined && !values && html` <code>${pattern as string}</code>`}${
    Array.isArray(examples) &&
    html` <span class="dim">such as</span> <code>${examples.map(String).join(' ')}</code>`
  }`
}

function resolve<T extends object>(document: OpenapiDocument, thing: T | Reference): T {
  if (!('$ref' in thing)) return thing
  const [kind, name] = thing.$ref.split('/').slice(-2) as ['headers' | 'responses', string]
  return document.components[kind][name] as T
}
