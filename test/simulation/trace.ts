/** What happened, one line an event, and one hash of all of it: the same seed has to give the same hash. */
export interface Trace {
  /** @param detail only asked for when somebody reads; no part of the hash */
  note(actor: string, text: string, detail?: () => string): void
  /** Empty unless the trace is kept. */
  lines(): readonly string[]
  hash(): string
}

/**
 * @param now virtual time; lines show it relative to the time of creation
 * @param kept whether lines are kept; the hash is the same either way
 */
export function createTrace(now: () => number, kept: boolean): Trace {
  const start = now()
  const lines: string[] = []
  let [high, low] = [0x811c9dc5, 0x1b873593]
  return {
    note(actor, text, detail) {
      const at = now() - start
      const event = `${at} ${actor} ${text}`
      for (let i = 0; i < event.length; i++) {
        high = Math.imul(high ^ event.charCodeAt(i), 0x01000193)
        low = Math.imul(low ^ event.charCodeAt(i), 0x85ebca6b) + high
      }
      if (kept) lines.push(`${seconds(at)}  ${actor.padEnd(14)} ${text}${detail ? ` ${detail()}` : ''}`)
    },
    lines: () => lines,
    hash: () => [high, low].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join(''),
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3).padStart(10)} s`
}

/** Arguments and answers in one line: what a person needs of them, and no more. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value, (key, part) => {
    if (part instanceof Uint8Array || part?.type === 'Buffer')
      return `${part.length ?? part.data.length} bytes`
    if (key === 'job' && part && typeof part === 'object') return undefined
    if (key === 'receiptHandle' || key === 'messageId') return part
    return typeof part === 'string' && part.length > 60 ? `${part.slice(0, 40)}…` : part
  })
  return text === undefined ? '' : text.length > 300 ? `${text.slice(0, 300)}…` : text
}
