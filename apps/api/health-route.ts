import type { RequestHandler } from 'express'
import { withDeadline } from '../../core/deadline.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import { ProblemError } from './problem.ts'

/** How long an answer about the dependencies is good for: probes by the dozen cost one look. */
const FRESH_MS = 1_000
/** How long a dependency has to answer. */
const DEADLINE_MS = 2_000

export interface HealthParts {
  jobs: Pick<Jobs, 'ping'>
  objectStore: Pick<ObjectStore, 'list'>
  clock: Clock
  /** Whether the process is about to end. */
  draining: () => boolean
}

/** `GET /healthz`: that this is answered is what it says, for every answer needs a turn of the event loop. */
export const healthRoute: RequestHandler = (_request, response) => {
  response.set('Cache-Control', 'no-store').json({ status: 'alive' })
}

/** `GET /readyz`: whether the database and the store answer, and the process means to stay. */
export function readyRoute({ jobs, objectStore, clock, draining }: HealthParts): RequestHandler {
  let last: { at: number; check: Promise<void> } | null = null

  async function check(): Promise<void> {
    const within = <T>(call: (signal: AbortSignal) => Promise<T>) =>
      withDeadline(clock, DEADLINE_MS, undefined, call)
    const dependencies = {
      database: within(() => jobs.ping()),
      // A prefix that nothing has: the cheapest question that takes the store's whole way.
      object_store: within((signal) => objectStore.list({ prefix: 'readyz/' }, signal)),
    }
    await Promise.all(
      Object.entries(dependencies).map(([name, answer]) =>
        answer.catch((cause) => {
          throw notReady(`the ${name} does not answer`, cause)
        }),
      ),
    )
  }

  return async (_request, response) => {
    if (draining()) throw notReady('the process is stopping')
    if (!last || clock.now() - last.at >= FRESH_MS) last = { at: clock.now(), check: check() }
    await last.check
    response.set('Cache-Control', 'no-store').json({ status: 'ready' })
  }
}

function notReady(detail: string, cause?: unknown): ProblemError {
  const error = new ProblemError({
    status: 503,
    code: 'not_ready',
    detail,
    retryable: true,
    headers: { 'Retry-After': '1' },
  })
  error.cause = cause
  return error
}
