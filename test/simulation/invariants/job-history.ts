import { isTerminal } from '../../../core/job.ts'
import type { Step } from '../faults.ts'
import type { JobRow, Tables } from '../memory/tables.ts'
import type { Report } from './violation.ts'

/** What the table may do to a job from one transaction to the next. */
export interface JobHistory {
  /** To be called after each transaction. */
  observe(step: Step): void
  /** The job as it was before the newest transaction. */
  before(jobId: string): JobRow | undefined
}

const ARROWS = new Set([
  'QUEUED→RUNNING',
  'RUNNING→RUNNING',
  'RUNNING→QUEUED',
  'RUNNING→SUCCEEDED',
  'RUNNING→FAILED',
  'QUEUED→FAILED',
])

/** @param budget the largest number of attempts that a generation may be charged */
export function watchJobs(tables: Tables, budget: number, report: Report): JobHistory {
  let previous = new Map<string, JobRow>()
  let older = previous

  return {
    before: (jobId) => older.get(jobId),
    observe(step) {
      older = previous
      previous = new Map([...tables.jobs].map(([jobId, row]) => [jobId, { ...row }]))
      for (const row of previous.values()) {
        const before = older.get(row.jobId)
        if (before) compare(before, row, step)
        checkMarkers(row)
      }
    },
  }

  function compare(before: JobRow, after: JobRow, step: Step): void {
    const told = (text: string) => `${after.jobId} at ${step}: ${text}`
    if (after.generation !== before.generation) {
      if (step !== OPERATOR_RETRY) report('one_completion', told('a new generation without an operator'))
      return
    }
    const moved = after.status !== before.status
    const claimed = after.status === 'RUNNING' && (moved || after.claimedAt !== before.claimedAt)
    if (isTerminal(before.status)) {
      if (
        JSON.stringify([before.status, before.outputs, before.error]) !==
        JSON.stringify([after.status, after.outputs, after.error])
      ) {
        report('one_completion', told(`${before.status} became ${after.status}`))
      }
    } else if (moved && !ARROWS.has(`${before.status}→${after.status}`)) {
      report('arrows', told(`${before.status} → ${after.status}`))
    }
    if (after.fence < before.fence)
      report('fence', told(`the fence fell from ${before.fence} to ${after.fence}`))
    // Its own claim, whose answer it never heard: no other attempt, and no other fence or charge.
    const repeated = claimed && before.status === 'RUNNING' && before.leaseOwner === after.leaseOwner
    if (((claimed && !repeated) || (moved && after.status === 'QUEUED')) && after.fence <= before.fence) {
      report('fence', told(`${before.status} → ${after.status} kept the fence ${after.fence}`))
    }
    const givenBack = before.status === 'RUNNING' && after.status === 'QUEUED' ? 1 : 0
    if (after.attempts < before.attempts - givenBack) {
      report('budget', told(`charged ${before.attempts} attempts, and now ${after.attempts}`))
    }
    if (claimed) checkClaim(before, after, told)
    else if (after.attempts > before.attempts) report('budget', told('charged without a claim'))
    if (before.status === 'RUNNING' && moved && SWEEPS.test(step) && before.leaseUntil! > tables.now()) {
      report('lease', told('taken from a live holder'))
    }
  }

  function checkClaim(before: JobRow, after: JobRow, told: (text: string) => string): void {
    const now = tables.now()
    if (after.leaseUntil! <= now) report('lease', told('claimed with a lease that has run out'))
    if (before.status === 'RUNNING' && before.leaseOwner === after.leaseOwner) {
      if (after.fence !== before.fence) report('fence', told('a repeated claim changed the fence'))
      return
    }
    if (before.status === 'QUEUED' && before.runAt > now) {
      report('lease', told(`claimed ${before.runAt - now} ms before it was due`))
    }
    if (before.status === 'RUNNING' && before.leaseUntil! > now) {
      report('lease', told(`claimed ${before.leaseUntil! - now} ms before its lease ran out`))
    }
    if (after.attempts !== before.attempts + 1) report('budget', told('claimed without being charged'))
    if (after.attempts > budget) report('budget', told(`attempt ${after.attempts} of ${budget}`))
  }

  function checkMarkers(row: JobRow): void {
    const marked = tables.processedOperations.has(`${row.jobId}/${row.generation}`)
    if (marked !== isTerminal(row.status)) {
      report('marker', `${row.jobId} is ${row.status} and ${marked ? 'marked' : 'not marked'}`)
    }
  }
}

/** The step under which the simulation reports an operator's retry. */
export const OPERATOR_RETRY: Step = 'jobs.operatorRetry'

const SWEEPS = /^jobs\.(rescue|expire|takeDeadLetter|refusePublication)/
