import type { Invariant, Violation } from './invariants/violation.ts'
import { MUTANTS } from './mutants/all.ts'
import type { Mutant } from './mutants/mutant.ts'
import { simulate } from './simulate.ts'
import { scenarioOfSeed } from './swarm.ts'

export interface MutantFate {
  name: string
  /** What gave it away; null when it survived. */
  killedBy: Violation | null
  /** The seed that did, which is how many it took from 1 on; or how many it survived. */
  seeds: number
}

/** Runs a mutant over the seeds from 1 on until one gives it away, `maxSeeds` at most. */
export async function fateOf(name: string, maxSeeds: number): Promise<MutantFate> {
  const mutant = mutantNamed(name)
  for (let seed = 1; seed <= maxSeeds; seed++) {
    const killedBy = await verdictOf(mutant, String(seed))
    if (killedBy) return { name, killedBy, seeds: seed }
  }
  return { name, killedBy: null, seeds: maxSeeds }
}

/** How the seed gives the mutant away; null where it does not. */
async function verdictOf(mutant: Mutant, seed: string): Promise<Violation | null> {
  const violation = await violationBy(mutant, seed)
  if (!violation) return null
  // What the service itself does wrong there gives no mutant away.
  const own = await simulate(scenarioOfSeed(seed))
  return own.violations.length > 0 ? null : violation
}

/** The first invariant that the mutant breaks in the seed's scenario. */
export async function violationBy({ mutate, mutateTables }: Mutant, seed: string): Promise<Violation | null> {
  const { violations } = await simulate(scenarioOfSeed(seed), {
    ...(mutate && { mutate }),
    ...(mutateTables && { mutateTables }),
  })
  return violations[0] ?? null
}

export function mutantNamed(name: string): Mutant {
  const mutant = MUTANTS.find((each) => each.name === name)
  if (!mutant) throw new Error(`no mutant is called “${name}”`)
  return mutant
}

/** By mutant: the seed that gives it away, and which invariant it breaks there. */
export type KillingSeeds = Record<string, { seed: string; invariant: Invariant }>
