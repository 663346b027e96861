/** The longest that a request waits, in seconds. */
export const MAX_WAIT_SECONDS = 60

/**
 * The seconds of a request's `Prefer: wait=N` (RFC 7240), 60 at most; null without one. What cannot be read is no
 * preference, as the RFC has it, and of several the first counts.
 */
export function preferredWait(header: string | string[] | undefined): number | null {
  for (const preference of [header ?? []].flat().join(',').split(',')) {
    const [name, value] = preference.split(';')[0]!.split('=')
    if (name?.trim().toLowerCase() !== 'wait') continue
    const seconds = /^(?:"(\d{1,9})"|(\d{1,9}))$/.exec(value?.trim() ?? '')
    return seconds ? Math.min(MAX_WAIT_SECONDS, Number(seconds[1] ?? seconds[2])) : null
  }
  return null
}
