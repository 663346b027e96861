import { expect, it } from 'vitest'
import { fingerprint } from './fingerprint.ts'

it('is for a request without options what it was before there were any', () => {
  const options = { preset: 'thumbnail', strict: false }
  expect(fingerprint({ declaredType: 'image/png', sha256: 'ab', options })).toBe(
    // Of `["image/png","ab",{}]`: records with it are in databases.
    'f60b4ccf1ec70ebea3a901f384e7a0d9a292fd943d7b459d11a9c98389851aff',
  )
})
