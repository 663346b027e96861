import { type Fault, type Placement, placedFaults } from './faults.ts'
import type { Violation } from './invariants/violation.ts'
import type { Scenario } from './scenario.ts'
import { type RunResult, simulate } from './simulate.ts'

export interface Placed {
  placement: Placement
  result: RunResult
}

/** One of `of` parts of the placements, which together are all of them: those whose first fault is at every `of`-th call. */
export interface Share {
  index: number
  of: number
}

const WHOLE: Share = { index: 0, of: 1 }

/**
 * Runs the scenario with every placement of up to `depth` of the faults over all calls of all processes, or over the
 * first `calls` of them. What a run does before its last fault, the run without that fault did just the same; so the
 * calls to place one at are known from it.
 */
export async function* runPlacements(
  scenario: Scenario,
  {
    faults,
    depth,
    calls = Number.POSITIVE_INFINITY,
    share = WHOLE,
  }: { faults: readonly Fault[]; depth: number; calls?: number; share?: Share },
  simulateOnce: typeof simulate = simulate,
): AsyncGenerator<Placed> {
  yield* below([])

  async function* below(placement: Placement): AsyncGenerator<Placed> {
    const result = await simulateOnce(scenario, { plan: placedFaults(placement) })
    // A fault that this call cannot meet, such as a refused entry of what is no batch: the run without it, once more.
    if (result.placement.length < placement.length) return
    const top = placement.length === 0
    if (!top || share.index === 0) yield { placement, result }
    if (placement.length === depth) return
    const first = top ? 0 : placement.at(-1)![0] + 1
    for (let call = first; call < Math.min(result.calls, calls); call++) {
      if (top && call % share.of !== share.index) continue
      for (const fault of faults) yield* below([...placement, [call, fault]])
    }
  }
}

export interface ExhaustiveSummary {
  /** By how many faults were placed. */
  runs: number[]
  failures: { placement: Placement; violation: Violation }[]
}

export async function summarize(placed: AsyncIterable<Placed>): Promise<ExhaustiveSummary> {
  const runs: number[] = []
  const failures: ExhaustiveSummary['failures'] = []
  for await (const { placement, result } of placed) {
    runs[placement.length] = (runs[placement.length] ?? 0) + 1
    if (result.violations[0]) failures.push({ placement, violation: result.violations[0] })
  }
  return { runs, failures }
}
