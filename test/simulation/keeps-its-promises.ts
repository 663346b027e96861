import { describe, expect, it } from 'vitest'
import { type CoverageRow, emptyCells, unexpectedRows } from './coverage.ts'
import { runSeeds, type SeedsSummary, sumOf } from './seeds.ts'

const CHUNK = 250

/** The seeds from `from` on as tests, in one of the files that share them: a file is what a core takes. */
export function keepsItsPromises(from: number, count: number): void {
  describe('the protocol', () => {
    const summaries: SeedsSummary[] = []

    it.each(Array.from({ length: count / CHUNK }, (_, i) => from + i * CHUNK))(
      'keeps every invariant in 250 seeds from %i on, and does the same twice',
      async (first) => {
        const summary = await runSeeds(first, CHUNK)
        summaries.push(summary)
        expect(summary.failures).toEqual([])
        expect(summary.unstable).toEqual([])
      },
    )

    // What so few seeds seldom come to is left to the long form, which knows no exception.
    it('was met by every fault at every step that it often takes', () => {
      const coverage: CoverageRow[] = sumOf(summaries).coverage
      expect(emptyCells(coverage, 1_500)).toEqual([])
      expect(unexpectedRows(coverage)).toEqual([])
    })
  })
}
