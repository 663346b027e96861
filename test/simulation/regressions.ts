import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Placement, placedFaults } from './faults.ts'
import type { Scenario } from './scenario.ts'
import { type RunResult, simulate } from './simulate.ts'

/**
 * A story that once broke an invariant, kept as it happened: the whole scenario, and which call met which fault. A seed
 * alone would not do, because what a seed stands for changes with `swarm.ts`.
 */
export interface Regression {
  name: string
  /** What broke, and why it did. */
  told: string
  scenario: Scenario
  faults: Placement
}

const FOLDER = path.join(import.meta.dirname, 'regressions')

export function readRegressions(): Regression[] {
  return readdirSync(FOLDER)
    .sort()
    .map((file) => ({
      name: path.basename(file, '.json'),
      ...JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')),
    }))
}

export function runRegression({ scenario, faults }: Regression): Promise<RunResult> {
  return simulate(scenario, { plan: placedFaults(faults) })
}

/** @returns the file to write, and its content */
export function regressionFile(
  name: string,
  seed: string,
  scenario: Scenario,
  { violations, placement }: RunResult,
): [file: string, content: string] {
  const told = violations.map(({ invariant, text }) => `${invariant}: ${text}`).join('; ')
  const content = { told: `seed ${seed}: ${told || 'nothing broke'}`, scenario, faults: placement }
  return [path.join(FOLDER, `${name}.json`), `${JSON.stringify(content, null, 2)}\n`]
}
