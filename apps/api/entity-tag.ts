/** A strong entity tag: objects are named by their SHA-256, so equal tags mean equal bytes. */
export function entityTag(sha256: string): string {
  return `"${sha256}"`
}

/** Whether an If-None-Match or If-Match header names the tag. `weakly` lets `W/"…"` count as `"…"`. */
export function namesTag(header: string, tag: string, { weakly }: { weakly: boolean }): boolean {
  if (header.trim() === '*') return true
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((candidate) => candidate === tag || (weakly && candidate === `W/${tag}`))
}
