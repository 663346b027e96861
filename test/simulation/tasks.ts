import { runPlacements, type Share, summarize } from './exhaustive.ts'
import { EXHAUSTIVE } from './exhaustive-plan.ts'
import { fateOf } from './mutation-gate.ts'
import { runSeeds } from './seeds.ts'

/** What a run of the simulation divides into. Each is told by plain data, so that another thread can do it. */
export const TASKS = {
  seeds: ({ from, count }: { from: number; count: number }) => runSeeds(from, count),
  mutant: ({ name, maxSeeds }: { name: string; maxSeeds: number }) => fateOf(name, maxSeeds),
  placements: ({ part, share }: { part: string; share: Share }) => {
    const { scenario, ...placing } = EXHAUSTIVE.find(({ name }) => name === part)!
    return summarize(runPlacements(scenario, { ...placing, share }))
  },
}

export type TaskName = keyof typeof TASKS
export type TaskOrder<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>[0]
export type TaskAnswer<Name extends TaskName> = Awaited<ReturnType<(typeof TASKS)[Name]>>
