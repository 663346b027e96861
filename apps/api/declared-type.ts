import type { Refusal } from './refusal.ts'

/** Names in use for what has a registered name. */
const ALIASES = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['image/apng', 'image/png'],
  ['image/tif', 'image/tiff'],
  ['image/x-tiff', 'image/tiff'],
])

/**
 * The media type that a request's Content-Type declares, in lower case and without parameters; null where it declares
 * none, which `application/octet-stream` does as well.
 */
export function declaredType(contentType: string | undefined): string | null {
  const type = contentType?.replace(/;.*/s, '').trim().toLowerCase()
  if (!type || type === 'application/octet-stream') return null
  return ALIASES.get(type) ?? type
}

/** Why a request that declares `type` is refused before its first byte; null where the bytes decide. */
export function refusalOfType(type: string | null): Refusal | null {
  if (type === null || /^image\/[^\s/]+$/.test(type)) return null
  return { status: 415, code: 'unsupported_type', message: SENTENCES.get(type) ?? general(type) }
}

const SENTENCES = new Map([
  [
    'multipart/form-data',
    'the body is a form (multipart/form-data); send the file’s bytes as the body: ' +
      'curl --data-binary @file -H "Content-Type: image/jpeg", not curl -F',
  ],
  [
    'application/x-www-form-urlencoded',
    'the Content-Type is application/x-www-form-urlencoded, no image type; ' +
      'curl --data-binary sends it unless told otherwise: add -H "Content-Type: image/jpeg"',
  ],
])

function general(type: string): string {
  return `the Content-Type is ${type.slice(0, 100)}, no image type; name the image’s, application/octet-stream, or none`
}
