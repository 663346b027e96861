import { applies, FAULT_NAMES, type Fault, type Step } from './faults.ts'
import type { Actor } from './simulated-process.ts'

/** Which fault met which step of which actor, and how often. */
export interface Coverage {
  note(actor: Actor, step: Step, fault: Fault | null): void
  add(other: readonly CoverageRow[]): void
  /** Step and actor, how often it was called, and how often with each fault. */
  rows(): CoverageRow[]
}

export interface CoverageRow {
  actor: Actor
  step: Step
  calls: number
  faults: Partial<Record<Fault, number>>
}

/**
 * Every call that an actor makes: the rows of the table. One that no seed comes to is a row of empty cells, and one that
 * is missing here shows that the service has learnt a step which nobody expects faults of.
 */
const STEPS: Record<Actor, readonly Step[]> = {
  api: [
    ...(['jobs.reserve', 'jobs.renewReservation', 'jobs.releaseReservation', 'jobs.accept'] as const),
    ...(['jobs.find', 'jobs.bury', 'jobs.end', 'store.put', 'store.delete'] as const),
  ],
  relay: [
    ...(['jobs.claimOutbox', 'jobs.confirmPublished', 'jobs.returnToOutbox'] as const),
    ...(['jobs.refusePublication', 'queue.send'] as const),
  ],
  worker: [
    ...(['queue.receive', 'queue.changeVisibility', 'queue.delete', 'jobs.claim', 'jobs.heartbeat'] as const),
    ...(['jobs.end', 'jobs.putBack', 'jobs.find', 'jobs.parkMessage', 'jobs.ping'] as const),
    ...(['store.get', 'store.put', 'renderer.render', 'moderator.judge', 'moderator.ping'] as const),
  ],
  sweeper: [
    ...(['queue.depth', 'jobs.republishLost', 'jobs.rescue', 'jobs.expire'] as const),
    ...(['deadLetters.receive', 'deadLetters.changeVisibility', 'deadLetters.delete'] as const),
    ...([
      'jobs.takeDeadLetter',
      'jobs.parkMessage',
      'jobs.buryFinished',
      'jobs.tombstonesWithObjects',
    ] as const),
    ...(['jobs.confirmObjectsGone', 'jobs.oldTombstones', 'jobs.forget', 'jobs.forgetReservations'] as const),
    ...(['jobs.existing', 'store.list', 'store.delete'] as const),
  ],
}

export function createCoverage(): Coverage {
  const rows = new Map<string, CoverageRow>()
  for (const [actor, steps] of Object.entries(STEPS) as [Actor, readonly Step[]][]) {
    for (const step of steps) row(actor, step)
  }
  function row(actor: Actor, step: Step): CoverageRow {
    const key = `${actor} ${step}`
    const known = rows.get(key)
    if (known) return known
    const fresh: CoverageRow = { actor, step, calls: 0, faults: {} }
    rows.set(key, fresh)
    return fresh
  }
  return {
    note(actor, step, fault) {
      const cell = row(actor, step)
      cell.calls++
      if (fault) cell.faults[fault] = (cell.faults[fault] ?? 0) + 1
    },
    add(other) {
      for (const { actor, step, calls, faults } of other) {
        const cell = row(actor, step)
        cell.calls += calls
        for (const [fault, count] of Object.entries(faults) as [Fault, number][]) {
          cell.faults[fault] = (cell.faults[fault] ?? 0) + count
        }
      }
    },
    rows: () => [...rows.values()].sort((a, b) => (`${a.actor} ${a.step}` < `${b.actor} ${b.step}` ? -1 : 1)),
  }
}

/**
 * The cells that should not be empty and are.
 *
 * @param leastCalls rows with fewer calls are left out: what hardly ever happens needs more seeds
 */
export function emptyCells(rows: readonly CoverageRow[], leastCalls = 0): string[] {
  const often = rows.filter(({ calls }) => calls >= leastCalls)
  return often.flatMap(({ actor, step, faults }) =>
    FAULT_NAMES.filter((fault) => applies(fault, step) && !faults[fault]).map(
      (fault) => `${fault} at ${step} of ${actor}`,
    ),
  )
}

/** Steps of actors that {@link STEPS} does not know of. */
export function unexpectedRows(rows: readonly CoverageRow[]): string[] {
  return rows
    .filter(({ actor, step }) => !STEPS[actor].includes(step))
    .map(({ actor, step }) => `${step} of ${actor}`)
}

export function coverageTable(rows: readonly CoverageRow[]): string {
  const header = ['actor', 'step', 'calls', ...FAULT_NAMES]
  const lines = rows.map(({ actor, step, calls, faults }) => [
    actor,
    step,
    String(calls),
    ...FAULT_NAMES.map((fault) => (applies(fault, step) ? String(faults[fault] ?? 0) : '–')),
  ])
  const widths = header.map((name, i) => Math.max(name.length, ...lines.map((line) => line[i]!.length)))
  const pad = (line: readonly string[]) =>
    line.map((text, i) => (i < 2 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join('  ')
  return [header, ...lines].map(pad).join('\n')
}
