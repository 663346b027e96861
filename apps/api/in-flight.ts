/** Work that goes on when its connection is gone, such as the cleaning up after an upload that was cut. */
export interface InFlight {
  run<T>(work: Promise<T>): Promise<T>
  /** Resolves when nothing is running. */
  settled(): Promise<void>
}

export function createInFlight(): InFlight {
  const running = new Set<Promise<unknown>>()
  return {
    async run(work) {
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}
