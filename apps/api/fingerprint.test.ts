import { expect, it } from 'vitest'
import { fingerprint } from './fingerprint.ts'

const REQUEST = { declaredType: 'image/png', sha256: 'aa', options: {} }

it('is kept for as long as keys are, and so never changes', () => {
  expect(fingerprint(REQUEST)).toBe('7db8643567c171e2c7289aeb4c51e9c33b8f5373a53529d7ad75363a3c8113cf')
})

it('does not depend on the order in which options are asked for', () => {
  const one = { expires_in: 60, callback_url: 'https://example.com/' }
  const other = { callback_url: 'https://example.com/', expires_in: 60 }
  expect(fingerprint({ ...REQUEST, options: one })).toBe(fingerprint({ ...REQUEST, options: other }))
  expect(fingerprint({ ...REQUEST, options: one })).not.toBe(fingerprint(REQUEST))
})
