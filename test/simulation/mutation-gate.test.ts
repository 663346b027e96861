import { describe, expect, it } from 'vitest'
import { MUTANTS } from './mutants/all.ts'
import { KILLING_SEEDS } from './mutants/killing-seeds.ts'
import { violationBy } from './mutation-gate.ts'

// The quick form: the one seed that is known to give the mutant away, and in which `seeds-*.test.ts` show the service
// itself to break nothing. The long form looks for it: `npm run sim -- --mutants`.
describe('the simulation', () => {
  it.each(MUTANTS)('notices: $name', async (mutant) => {
    const known = KILLING_SEEDS[mutant.name]
    expect(known, 'no seed is known to give it away: run `npm run sim -- --mutants`').toBeDefined()
    const verdict = await violationBy(mutant, known!.seed)
    expect(verdict?.invariant, `${mutant.wrong}, and nothing gave it away`).toBe(known!.invariant)
  })
})
