import { describe, expect, it } from 'vitest'
import { readRegressions, runRegression } from './regressions.ts'

describe('a story that once broke an invariant', () => {
  it.each(readRegressions())('ends well: $told', async (regression) => {
    expect((await runRegression(regression)).violations).toEqual([])
  })
})
