import type { CheckerReport } from './checker/ledger.ts'
import type { Tally } from './tally.ts'

export interface Circumstances {
  tally: Tally
  /** What the processes did that no fault excuses. */
  unexpected: string[]
  struckForMs: number
  messagesLeft: number
}

/** Prints what was done and what came of it; true when anything is wrong. */
export function printReport(report: CheckerReport, circumstances: Circumstances): boolean {
  const { tally, struckForMs, messagesLeft } = circumstances
  const { attempted, accepted, succeeded, failed, unanswered, drainedAfterMs, lost, duplicated } = report
  const unexpected = [...report.unexpected, ...circumstances.unexpected]
  if (messagesLeft > 0) unexpected.push(`${messagesLeft} messages are left in the queue`)
  const drained =
    drainedAfterMs === null ? 'the backlog did not drain' : `drained ${seconds(drainedAfterMs)} s after`

  console.log(`faults for ${seconds(struckForMs)} s; ${drained}`)
  for (const line of tally.lines()) console.log(`  ${line}`)
  console.log(
    `attempted ${attempted}, accepted ${accepted} (${unanswered} requests unanswered or put off), ` +
      `succeeded ${succeeded}, failed as they should ${failed}`,
  )
  console.log(`lost ${lost.length}, duplicated effects ${duplicated.length}, unexpected ${unexpected.length}`)
  for (const [what, sentences] of Object.entries({ lost, duplicated, unexpected })) {
    for (const sentence of sentences.slice(0, SHOWN)) console.log(`  ${what}: ${sentence}`)
  }
  return lost.length + duplicated.length + unexpected.length > 0 || drainedAfterMs === null
}

const SHOWN = 50

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
