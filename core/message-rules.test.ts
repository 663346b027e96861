import { describe, expect, it } from 'vitest'
import { assertBatch, messageBytes, refuseMessage } from './message-rules.ts'
import { MAX_BATCH_BYTES } from './ports/queue.ts'

const message = (body: string, attributes: Record<string, string> = {}) => ({ body, attributes })

describe('the rules for messages', () => {
  it('let every character of XML 1.0 through, emoji included', () => {
    expect(refuseMessage(message('\t\n\r ~ é \u{d7ff}\u{e000}\u{fffd} 🖼', { kind: 'é🖼' }))).toBeNull()
  })

  it.each([
    ['nothing', ''],
    ['a NUL', 'a\u0000b'],
    ['a control character', 'a\u001bb'],
    ['a lone surrogate', 'a\ud800b'],
    ['a non-character', 'a\uffff'],
  ])('refuse a body with %s for good', (_, body) => {
    expect(refuseMessage(message(body))).toEqual({
      ok: false,
      code: 'InvalidMessageContents',
      permanent: true,
    })
  })

  it('refuse a message of a byte more than a whole batch may have', () => {
    expect(refuseMessage(message('é'.repeat(MAX_BATCH_BYTES / 2)))).toBeNull()
    expect(refuseMessage(message(`${'é'.repeat(MAX_BATCH_BYTES / 2)}x`))).toMatchObject({
      code: 'MessageTooLong',
    })
  })

  it.each([
    ['more than ten', Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, 'x']))],
    ['one whose name has a blank', { 'a b': 'x' }],
    ['one without a value', { a: '' }],
    ['one whose value has a NUL', { a: '\u0000' }],
  ])('refuse attributes: %s', (_, attributes) => {
    expect(refuseMessage(message('x', attributes))).toMatchObject({
      code: 'InvalidParameterValue',
      permanent: true,
    })
  })

  it('count bytes of body, names, types and values', () => {
    expect(messageBytes(message('é', { ab: 'c' }))).toBe(2 + 2 + 'String'.length + 1)
  })

  it('name the number of entries that a batch cannot have', () => {
    expect(() => assertBatch([])).toThrow(new RangeError('a batch has 1 to 10 entries, not 0'))
    expect(() => assertBatch(Array(11))).toThrow('not 11')
    expect(() => assertBatch(Array(10))).not.toThrow()
  })
})
