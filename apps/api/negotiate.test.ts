import { describe, expect, it } from 'vitest'
import type { OutputFormat } from '../../core/preset.ts'
import { negotiate } from './negotiate.ts'

const OPAQUE: OutputFormat[] = ['webp', 'jpeg', 'avif']
const CHROME = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'
const OLD_SAFARI = 'image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5'

const chosen = (accept: string | undefined, formats: OutputFormat[] = OPAQUE) =>
  negotiate(
    accept,
    formats.map((format) => ({ format })),
  ).format

describe('of a WebP, a JPEG and an AVIF', () => {
  it.each([
    ['a current browser', CHROME, 'avif'],
    ['a browser without AVIF', 'image/webp,image/apng,*/*;q=0.8', 'webp'],
    ['a browser from before WebP', OLD_SAFARI, 'jpeg'],
    ['a client that says nothing', undefined, 'jpeg'],
    ['a client whose header is empty', ' ', 'jpeg'],
    ['curl', '*/*', 'jpeg'],
    ['one that takes any image', 'image/*', 'jpeg'],
    ['one that likes WebP more', 'image/avif;q=0.5, image/webp;q=0.6', 'webp'],
    ['one that likes JPEG more', 'image/jpeg, */*;q=0.9', 'jpeg'],
    ['one that names WebP beside anything', 'image/webp, */*', 'webp'],
    ['one that takes anything but AVIF and JPEG', 'image/avif;q=0, image/jpeg;q=0.0, */*', 'webp'],
    ['one for which a wildcard is better than a name', 'image/webp;q=0.2, image/*;q=0.7', 'jpeg'],
    ['one that writes in capitals and with spaces', ' IMAGE/WEBP ; Q=1.000 , */* ; q=0.1', 'webp'],
    ['one with parameters of its own', 'image/webp;v=1;q=0.9, image/jpeg;level=2;q=0.8', 'webp'],
    ['one that names a type twice', 'image/webp;q=0.1, image/jpeg;q=0.5, image/webp;q=0.9', 'webp'],
  ] as const)('%s is given the right one', (_who, accept, format) => {
    expect(chosen(accept)).toBe(format)
  })

  it.each([
    'text/html',
    'image/png',
    '*/*;q=0',
    'image/webp;q=0',
    'nonsense',
    ',,;;q',
    `${'a,'.repeat(5_000)}`,
  ])('one that accepts none of them is given the most readable: %.20s', (accept) => {
    expect(chosen(accept)).toBe('jpeg')
  })
})

it('a malformed quality counts as none, which is 1', () => {
  expect(chosen('image/webp;q=2, image/avif;q=0.9')).toBe('webp')
  expect(chosen('image/webp;q=0.12345, image/avif;q=0.9')).toBe('webp')
})

it('what is transparent falls back to PNG, what moves to GIF, and a single variant to itself', () => {
  expect(chosen('*/*', ['webp', 'png'])).toBe('png')
  expect(chosen(OLD_SAFARI, ['webp', 'png'])).toBe('png')
  expect(chosen('*/*', ['webp', 'gif'])).toBe('gif')
  expect(chosen(CHROME, ['webp', 'gif'])).toBe('webp')
  expect(chosen('image/png', ['webp'])).toBe('webp')
})

it('the order in which the variants were stored decides nothing', () => {
  for (const accept of [CHROME, '*/*', 'image/*;q=0.3', 'text/html']) {
    expect(chosen(accept, ['jpeg', 'avif', 'webp'])).toBe(chosen(accept, ['avif', 'webp', 'jpeg']))
  }
})
