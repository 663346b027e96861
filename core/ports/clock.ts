/**
 * Time as one process sees it. It measures durations and waits; it never decides who holds a lease or when a job is
 * due, because two machines' clocks differ: those decisions are made by the database's own clock, inside {@link Jobs}.
 */
export interface Clock {
  /** Milliseconds since the epoch by this process's clock. */
  now(): number
  /**
   * Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as `signal` aborts.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
