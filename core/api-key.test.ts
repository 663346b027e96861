import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hashApiKey, isApiKey, mintApiKey, shownPart } from './api-key.ts'
import type { Random } from './ports/random.ts'

const random: Random = { uniform: Math.random, bytes: (length) => randomBytes(length) }
const fixed = (byte: number): Random => ({
  uniform: () => 0,
  bytes: (length) => new Uint8Array(length).fill(byte),
})

describe('an API key', () => {
  test('is 45 characters that are one word, and always that many', () => {
    for (const source of [random, fixed(0), fixed(255)]) {
      expect(mintApiKey(source)).toMatch(/^img42_[0-9a-hjkmnp-tv-z]{39}$/)
    }
  })

  test('holds 160 bits of chance', () => {
    const asked: number[] = []
    mintApiKey({
      ...random,
      bytes(length) {
        asked.push(length)
        return randomBytes(length)
      },
    })
    expect(asked).toEqual([20])
    expect(mintApiKey(fixed(255)).slice(6, 38)).toBe('z'.repeat(32))
  })

  test('is told from one with any character changed, missing or added', () => {
    const key = mintApiKey(random)
    expect(isApiKey(key)).toBe(true)
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === '0' ? '1' : '0'
      expect(isApiKey(key.slice(0, i) + other + key.slice(i + 1))).toBe(false)
      expect(isApiKey(key.slice(0, i) + key.slice(i + 1))).toBe(false)
    }
    for (const text of [`${key}0`, ` ${key}`, `${key}\n`, key.toUpperCase(), ''])
      expect(isApiKey(text)).toBe(false)
  })

  test('is stored as its SHA-256, and shown by six characters of its secret', () => {
    const key = mintApiKey(fixed(0))
    expect(hashApiKey('abc').toString('hex')).toMatch(/^ba7816bf8f01cfea/)
    expect(hashApiKey(key)).toHaveLength(32)
    expect(shownPart(key)).toBe('img42_000000')
  })
})
