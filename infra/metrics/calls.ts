import { Histogram, type Registry } from 'prom-client'

export type ObservedPort = 'jobs' | 'queue' | 'dead_letters' | 'object_store' | 'moderator'

/**
 * Decorates ports so that each of their calls is timed, by port, method and whether it rejected.
 *
 * @returns the same port, timed
 */
export function createCallObserver(registry: Registry) {
  const seconds = new Histogram({
    name: 'img42_call_seconds',
    help: 'Calls to what the app depends on',
    labelNames: ['port', 'call', 'outcome'] as const,
    // Around a local call, a slow one, and the deadlines of 5 s and 60 s.
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 5, 20, 60],
    registers: [registry],
  })
  return <Port extends object>(port: ObservedPort, implementation: Port): Port => {
    const timed: Record<string, unknown> = {}
    for (const [method, run] of Object.entries(implementation)) {
      timed[method] = typeof run === 'function' ? timedCall(method, run.bind(implementation)) : run
    }
    return timed as Port

    function timedCall(method: string, run: (...args: unknown[]) => Promise<unknown>) {
      const labels = { port, call: snakeCase(method) }
      let known: { ok: Observer; failed: Observer } | null = null
      return async (...args: unknown[]) => {
        known ??= withZero(labels)
        const startedAt = performance.now()
        let outcome: 'ok' | 'failed' = 'failed'
        try {
          const answer = await run(...args)
          outcome = 'ok'
          return answer
        } finally {
          known[outcome].observe((performance.now() - startedAt) / 1_000)
        }
      }
    }
  }

  /** Both outcomes, from the first call on: an app uses a few of a port's many methods, and its first failure counts. */
  function withZero(labels: { port: ObservedPort; call: string }) {
    const of = (outcome: 'ok' | 'failed') => {
      seconds.zero({ ...labels, outcome })
      return seconds.labels({ ...labels, outcome })
    }
    return { ok: of('ok'), failed: of('failed') }
  }
}

interface Observer {
  observe(value: number): void
}

function snakeCase(method: string): string {
  return method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
