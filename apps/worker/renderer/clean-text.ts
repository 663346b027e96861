/** Longer than any camera's name, and short enough for a job's row. */
const MOST_CHARACTERS = 200

/**
 * A text out of a file, fit to be shown: without what controls a terminal or turns the direction of writing, its white
 * space single, and cut to {@link MOST_CHARACTERS}. null when nothing is left of it.
 */
export function cleanText(text: string): string | null {
  const clean = text.replace(/\0.*/s, '').replace(UNSHOWN, ' ').replace(/\s+/g, ' ').trim()
  return [...clean].slice(0, MOST_CHARACTERS).join('').trim().slice(0, MOST_CHARACTERS) || null
}

/** Bytes as UTF-8 where they are that, as Latin-1 otherwise: files say neither. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('latin1').decode(bytes)
  }
}

/** Control and format characters, lone surrogates, private use. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\uFFFD]/gu
