/**
 * The text without control characters and halves of surrogate pairs. Postgres takes neither into `text` or `jsonb`: one
 * NUL in what a camera or a moderator wrote would make the job's end fail, again and again.
 */
export function printable(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}+/gu, ' ')
}
