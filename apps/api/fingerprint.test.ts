import { expect, it } from 'vitest'
import { DEFAULT_OPTIONS } from '../../core/job.ts'
import { fingerprint } from './fingerprint.ts'

const REQUEST = { declaredType: 'image/png', sha256: 'aa', options: DEFAULT_OPTIONS }

it('is kept for as long as keys are, and so never changes', () => {
  // Of `["image/png","aa",{}]`: records with it are in databases.
  expect(fingerprint(REQUEST)).toBe('7db8643567c171e2c7289aeb4c51e9c33b8f5373a53529d7ad75363a3c8113cf')
})

it.each([
  { preset: 'other' },
  { strict: true },
  { expires_in: 60 },
  { callback_url: 'https://example.com/' },
])('tells a request with %j from one without', (option) => {
  const asked = fingerprint({ ...REQUEST, options: { ...DEFAULT_OPTIONS, ...option } })
  expect(asked).not.toBe(fingerprint(REQUEST))
})

it('does not depend on the order in which options are asked for', () => {
  const one = { ...DEFAULT_OPTIONS, expires_in: 60, callback_url: 'https://example.com/' }
  const other = { callback_url: 'https://example.com/', expires_in: 60, ...DEFAULT_OPTIONS }
  expect(fingerprint({ ...REQUEST, options: one })).toBe(fingerprint({ ...REQUEST, options: other }))
})

it('has of a preset its name: its content may change while the key lives', () => {
  const plan = { ...DEFAULT_OPTIONS.plan, linear: true }
  expect(fingerprint({ ...REQUEST, options: { ...DEFAULT_OPTIONS, plan } })).toBe(fingerprint(REQUEST))
})
