import { type Attributes, SpanKind, trace } from '@opentelemetry/api'
import { inSpan } from './spans.ts'

/** What OpenTelemetry's conventions call what stands behind a port. */
const BEHIND = {
  jobs: { 'db.system.name': 'postgresql' },
  callbacks: { 'db.system.name': 'postgresql' },
  queue: { 'messaging.destination.name': 'jobs' },
  object_store: { 'peer.service': 'object_store' },
  moderator: { 'peer.service': 'moderator' },
  renderer: { 'peer.service': 'renderer' },
} satisfies Record<string, Attributes>

/**
 * The same port, each of whose calls is a span of what it is called for: `object_store.put`. A call that nothing is active
 * for, such as a sweep's, is none: it would be a trace that nobody asked for.
 */
export function tracePort<Port extends object>(port: keyof typeof BEHIND, calls: Port): Port {
  const traced = Object.entries(calls).map(([method, call]) => {
    if (typeof call !== 'function') return [method, call]
    const options = { kind: SpanKind.CLIENT, attributes: BEHIND[port] }
    const inItsSpan = (...args: unknown[]) =>
      trace.getActiveSpan() ? inSpan(`${port}.${method}`, options, () => call(...args)) : call(...args)
    return [method, inItsSpan]
  })
  return Object.fromEntries(traced) as Port
}
