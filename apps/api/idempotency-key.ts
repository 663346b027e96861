import { type Problem, ProblemError } from './problem.ts'

const MAX_CHARACTERS = 255

/**
 * The key that a request's Idempotency-Key header gives; null without one. Taken as the string of RFC 8941 that the
 * IETF's draft asks for (`"8e03978e"`), or bare as most clients send it (`8e03978e`); both are the same key.
 *
 * @param values of the header, one for each time that it was sent
 * @throws {ProblemError} 400 when it is sent twice, empty, malformed, or longer than 255 characters
 */
export function readIdempotencyKey(values: readonly string[] | undefined): string | null {
  if (values === undefined) return null
  if (values.length > 1) throw malformed(`it was sent ${values.length} times`)
  const value = values[0]!.trim()
  const key = value.startsWith('"') ? unquoted(value) : bare(value)
  if (key === null) {
    throw malformed(
      'it is neither a quoted string of printable ASCII nor a bare one without spaces and , ; \\',
    )
  }
  if (key === '') throw malformed('it is empty')
  if (key.length > MAX_CHARACTERS) {
    throw malformed(`it has ${key.length} characters, of ${MAX_CHARACTERS} at most`)
  }
  return key
}

function unquoted(value: string): string | null {
  const string = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(value)?.[1]
  return string === undefined ? null : string.replace(/\\(["\\])/g, '$1')
}

function bare(value: string): string | null {
  return /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(value) ? value : null
}

function malformed(why: string): ProblemError {
  const problem: Problem = {
    status: 400,
    code: 'idempotency_key_malformed',
    detail: `the Idempotency-Key is wrong: ${why}`,
  }
  return new ProblemError(problem)
}
