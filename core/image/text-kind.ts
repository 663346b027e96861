import { ascii, startsWith } from './bytes.ts'

/**
 * What a file that is text is called: SVG, HTML, XML, JSON or plain text; null for one that is not.
 * SVG has no signature, so that anything may stand before its root element; and a picture may hold "<svg" in its
 * metadata, which is why the accepted types are looked for first.
 */
export function textKind(head: Uint8Array): string | null {
  const text = decode(head)
    ?.replace(/^\uFEFF/, '')
    .trimStart()
  if (text === undefined) return null
  if (text === '') return 'blank'
  if (text.startsWith('<')) {
    // A prologue and comments may come before the root; what an XML file's root is may lie behind the head.
    const root = text.replace(/<(\?[^>]*|!--.*?--)>\s*/gs, '')
    if (/^<(!doctype\s+)?(\w+:)?svg\b/i.test(root)) return 'SVG'
    if (/^<(!doctype\s+)?(html|head|body|script|iframe|title|meta|h1|div|table|style|p|br|a)\b/i.test(root)) {
      return 'an HTML page'
    }
    return 'XML, HTML or SVG'
  }
  if (/^[[{]/.test(text)) return 'text (JSON, perhaps)'
  if (/^data:[\w/+.-]+[;,]/.test(text)) return 'a data: URL; send the bytes of the image themselves'
  return 'plain text'
}

/** As text, where it is: UTF-16 by its mark, UTF-8 otherwise; null where control characters or broken letters are. */
function decode(head: Uint8Array): string | null {
  const utf16 = startsWith(head, 'ff fe') ? 'utf-16le' : startsWith(head, 'fe ff') ? 'utf-16be' : null
  if (utf16) return new TextDecoder(utf16).decode(head.subarray(0, head.length & ~1))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells text from other bytes
  if (/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(ascii(head))) return null
  try {
    // As a stream, because the head may end in the middle of a letter.
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
  } catch {
    return null
  }
}
