import { describe, expect, it } from 'vitest'
import { readIdempotencyKey } from './idempotency-key.ts'
import { ProblemError } from './problem.ts'

describe('an Idempotency-Key', () => {
  it('is absent without the header', () => {
    expect(readIdempotencyKey(undefined)).toBeNull()
  })

  it('means the same quoted and bare', () => {
    expect(readIdempotencyKey(['"8e03978e-40d5"'])).toBe('8e03978e-40d5')
    expect(readIdempotencyKey(['8e03978e-40d5'])).toBe('8e03978e-40d5')
  })

  it('may hold escaped quotes and spaces when it is quoted', () => {
    expect(readIdempotencyKey([String.raw`"a \"b\" \\ c"`])).toBe(String.raw`a "b" \ c`)
  })

  it('may be 255 characters long, and no longer', () => {
    expect(readIdempotencyKey(['k'.repeat(255)])).toHaveLength(255)
    expect(readIdempotencyKey([`"${'k'.repeat(255)}"`])).toHaveLength(255)
    expect(() => readIdempotencyKey(['k'.repeat(256)])).toThrow(/256 characters/)
  })

  it.each([
    ['empty', ['']],
    ['an empty string', ['""']],
    ['sent twice', ['a', 'a']],
    ['two in one', ['a, b']],
    ['two in one, tight', ['a,b']],
    ['with a parameter', ['"a";b=1']],
    ['an open quote', ['"a']],
    ['a quote inside', ['a"b']],
    ['a bad escape', [String.raw`"a\b"`]],
    ['not ASCII', ['schlüssel']],
    ['a control character', ['"a\tb"']],
  ])('is refused with 400 when it is %s', (_what, values) => {
    let thrown: unknown
    try {
      readIdempotencyKey(values)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ProblemError)
    expect((thrown as ProblemError).problem).toMatchObject({ status: 400, code: 'idempotency_key_malformed' })
  })
})
