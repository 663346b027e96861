import type { Clock } from './ports/clock.ts'

/** The reason of a signal that {@link withDeadline} aborted. */
export class DeadlineExceeded extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.name = 'DeadlineExceeded'
  }
}

/**
 * Runs `call` with a signal that aborts after `ms` milliseconds or together with `parent`, and settles no later than
 * that: a call that ignores its signal is left behind, because a connection that hangs half-open never answers at all.
 * Its effect may still happen.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  parent: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent?.throwIfAborted()
  const settled = new AbortController()
  const deadline = new AbortController()
  const signal = parent ? AbortSignal.any([parent, deadline.signal]) : deadline.signal
  clock.sleep(ms, settled.signal).then(
    () => deadline.abort(new DeadlineExceeded(ms)),
    () => {},
  )
  try {
    return await new Promise<T>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      call(signal).then(resolve, reject)
    })
  } finally {
    settled.abort()
  }
}
