import { describe, expect, it } from 'vitest'
import { declaredType, refusalOfType } from './declared-type.ts'

describe('a declared Content-Type', () => {
  it.each([
    ['image/jpeg', 'image/jpeg'],
    ['IMAGE/PNG; foo=bar', 'image/png'],
    ['image/jpg', 'image/jpeg'],
    ['text/plain;charset=utf-8', 'text/plain'],
  ])('is read from %s as %s', (header, type) => {
    expect(declaredType(header)).toBe(type)
  })

  it.each([undefined, '', ' ', 'application/octet-stream', 'Application/Octet-Stream; x=1'])(
    'is none in %j',
    (header) => {
      expect(declaredType(header)).toBeNull()
    },
  )

  it.each([null, 'image/jpeg', 'image/svg+xml', 'image/unheard-of'])('leaves %s to the bytes', (type) => {
    expect(refusalOfType(type)).toBeNull()
  })

  it.each([
    ['text/plain', /text\/plain/],
    ['multipart/form-data', /--data-binary @file/],
    ['application/x-www-form-urlencoded', /-H "Content-Type: image\/jpeg"/],
    ['image/', /image\//],
    ['nonsense', /nonsense/],
  ])('refuses %s and says what helps', (type, sentence) => {
    expect(refusalOfType(type)).toMatchObject({ status: 415, code: 'unsupported_type' })
    expect(refusalOfType(type)?.message).toMatch(sentence)
  })
})
