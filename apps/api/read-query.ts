import type { Request } from 'express'
import type { z } from 'zod'
import { ProblemError } from './problem.ts'
import type { Operation } from './schemas/operation.ts'

/**
 * The query parameters of a request, as the operation's schema reads them; `{}` where it has none.
 *
 * @throws {ProblemError} 422 naming each parameter that is unknown, given twice, or outside of its limits
 */
export function readQuery<O extends Operation>(
  operation: O,
  request: Pick<Request, 'url'>,
): O['query'] extends z.ZodType ? z.output<O['query']> : Record<never, never> {
  const given = new URLSearchParams(request.url.replace(/^[^?]*/, ''))
  const names = [...new Set(given.keys())]
  const wrong = names
    .filter((name) => given.getAll(name).length > 1)
    .map((name) => `${shown(name)} is given twice`)
  const known = operation.query?.shape ?? {}
  for (const name of names.filter((name) => !Object.hasOwn(known, name))) {
    wrong.push(`${shown(name)} is unknown here (${Object.keys(known).join(', ') || 'there are none'})`)
  }
  if (wrong.length > 0) throw invalid(wrong)

  const parsed = operation.query?.safeParse(Object.fromEntries(given))
  if (parsed && !parsed.success) {
    throw invalid(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`))
  }
  return (parsed?.data ?? {}) as ReturnType<typeof readQuery<O>>
}

function invalid(wrong: string[]): ProblemError {
  return new ProblemError({
    status: 422,
    code: 'invalid_parameter',
    detail: `the query is wrong: ${wrong.join('; ')}`,
  })
}

/** A stranger's name in a sentence: printable and short. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 50))
}
