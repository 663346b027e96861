/** How often what was done, for the report. */
export interface Tally {
  count(what: string): void
  of(what: string): number
  /** `what: times`, most often first. */
  lines(): string[]
}

export function createTally(): Tally {
  const counts = new Map<string, number>()
  return {
    count: (what) => counts.set(what, (counts.get(what) ?? 0) + 1),
    of: (what) => counts.get(what) ?? 0,
    lines: () => [...counts].sort(([, a], [, b]) => b - a).map(([what, times]) => `${what}: ${times}`),
  }
}
