import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Timing } from '../../core/timing.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** What one process exposes, docs/metrics.md: a registry with what every app has, to which the app's parts add theirs. */
export function createRegistry(app: string, timing: Timing): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    ...{ name: 'img42_build_info', help: 'The app and its version', labelNames: ['app', 'version'] as const },
    registers: [registry],
  }).set({ app, version: packageJson.version }, 1)
  const configured = new Gauge({
    ...{ name: 'img42_timing_seconds', help: 'Configured durations', labelNames: ['name'] as const },
    registers: [registry],
  })
  for (const field of TOLD_TIMING) {
    const name = field.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    configured.set({ name }, timing[field] / 1_000)
  }
  configured.set({ name: 'visibility' }, timing.visibilitySeconds)
  return registry
}

/**
 * A counter that stands at 0 for each of the label values given, so that `increase()` sees the first event: a series that
 * begins at 1 has not increased.
 */
export function countFrom0<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
  values: readonly Record<Label, string>[],
): Counter<Label> {
  const counter = new Counter({ name, help, labelNames, registers: [registry] })
  for (const labels of values) counter.inc(labels, 0)
  return counter
}

/** The values of one label, as {@link countFrom0} takes them. */
export function eachOf<Label extends string>(
  label: Label,
  values: readonly string[],
): Record<Label, string>[] {
  return values.map((value) => ({ [label]: value }) as Record<Label, string>)
}

/** Those that rules compare with what is measured. */
const TOLD_TIMING = [
  ...(['heartbeatMs', 'leaseMs', 'graceMs', 'republishAgeMs', 'evidenceMs', 'attemptMs'] as const),
  ...(['deadlineMs', 'relayPollMs', 'sweepMs', 'callMs', 'storeCallMs'] as const),
]
