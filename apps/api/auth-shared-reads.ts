/**
 * Reads that are shared by whoever asks for the same key at the same time: at most one is under way for a key, and one
 * waits for its end. A caller is given what was read by a read that began after it asked, never by an earlier one, so
 * that sharing is not caching: what was committed before the call is seen by it.
 *
 * A flood of requests for one key costs one read at a time.
 */
export function shareReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>()
  const waiting = new Map<string, Promise<T>>()

  function begin(key: string): Promise<T> {
    const reading = read(key).finally(() => underWay.delete(key))
    underWay.set(key, reading)
    return reading
  }

  return (key) => {
    const current = underWay.get(key)
    if (!current) return begin(key)
    const joined = waiting.get(key)
    if (joined) return joined
    const next = () => {
      waiting.delete(key)
      return begin(key)
    }
    const following = current.then(next, next)
    waiting.set(key, following)
    return following
  }
}
