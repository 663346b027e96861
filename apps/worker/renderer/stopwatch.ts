/** Adds up how long the steps of a job take, in milliseconds of the wall clock. */
export interface Stopwatch {
  readonly spent: Readonly<Record<Step, number>>
  time<T>(step: Step, work: () => Promise<T>): Promise<T>
}

export type Step = 'decodeMs' | 'resizeMs' | 'encodeMs'

export function startStopwatch(): Stopwatch {
  const spent: Record<Step, number> = { decodeMs: 0, resizeMs: 0, encodeMs: 0 }
  return {
    spent,
    async time(step, work) {
      const began = performance.now()
      try {
        return await work()
      } finally {
        spent[step] += performance.now() - began
      }
    },
  }
}
