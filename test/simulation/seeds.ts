import { type CoverageRow, createCoverage } from './coverage.ts'
import type { Violation } from './invariants/violation.ts'
import { SIGHTINGS, type Sighting, type Sightings } from './sightings.ts'
import { simulate } from './simulate.ts'
import { scenarioOfSeed } from './swarm.ts'

export interface SeedsSummary {
  failures: { seed: number; violation: Violation }[]
  coverage: CoverageRow[]
  sightings: Sightings['counts']
  /** Seeds whose second run differed from the first. */
  unstable: number[]
}

/** Every so many seeds one runs twice, to see that it does the same. */
const SAMPLE = 50

export async function runSeeds(from: number, count: number): Promise<SeedsSummary> {
  const coverage = createCoverage()
  const failures: SeedsSummary['failures'] = []
  const sightings: SeedsSummary['sightings'] = {}
  const unstable: number[] = []
  for (let seed = from; seed < from + count; seed++) {
    const result = await simulate(scenarioOfSeed(String(seed)))
    if (result.violations[0]) failures.push({ seed, violation: result.violations[0] })
    coverage.add(result.coverage.rows())
    addCounts(sightings, result.sightings)
    if (seed % SAMPLE === 0) {
      const again = await simulate(scenarioOfSeed(String(seed)))
      if (again.hash !== result.hash) unstable.push(seed)
    }
  }
  return { failures, coverage: coverage.rows(), sightings, unstable }
}

export function sumOf(summaries: readonly SeedsSummary[]): SeedsSummary {
  const coverage = createCoverage()
  const sightings: SeedsSummary['sightings'] = {}
  for (const summary of summaries) {
    coverage.add(summary.coverage)
    addCounts(sightings, summary.sightings)
  }
  return {
    failures: summaries.flatMap(({ failures }) => failures).sort((a, b) => a.seed - b.seed),
    coverage: coverage.rows(),
    sightings,
    unstable: summaries.flatMap(({ unstable }) => unstable),
  }
}

/** What a run of many seeds should have met and has not. */
export function missingSightings(sightings: Sightings['counts']): Sighting[] {
  return (Object.keys(SIGHTINGS) as Sighting[]).filter((name) => !sightings[name])
}

function addCounts(sum: Sightings['counts'], counts: Sightings['counts']): void {
  for (const [name, seen] of Object.entries(counts) as [Sighting, number][]) {
    sum[name] = (sum[name] ?? 0) + seen
  }
}
