import { describe, expect, it } from 'vitest'
import { runPlacements, summarize } from './exhaustive.ts'
import { EXHAUSTIVE } from './exhaustive-plan.ts'

describe('one job', () => {
  const quick = EXHAUSTIVE.filter(({ depth }) => depth === 1)

  it.each(quick)('keeps every promise with $name', async ({ scenario, ...placing }) => {
    const { runs, failures } = await summarize(runPlacements(scenario, placing))
    expect(failures).toEqual([])
    // A run without faults, and one for each fault at each of its calls.
    expect(runs[0]).toBe(1)
    expect(runs[1]).toBeGreaterThan(100)
  })
})
