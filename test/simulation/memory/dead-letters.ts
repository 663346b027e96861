import { judgeDeadLetter } from '../../../core/dead-letter-verdict.ts'
import type { DeadLetterVerdict, Sweeps } from '../../../core/ports/jobs.ts'
import { appendEvent, insertDeadLetter, insertOutboxRow, type JobRow, type Tables, toJob } from './tables.ts'
import { endJob } from './work.ts'

export function takeDeadLetter(
  tables: Tables,
  letter: Parameters<Sweeps['takeDeadLetter']>[0],
): DeadLetterVerdict {
  const recorded = tables.deadLetters.find(({ messageId }) => messageId === letter.messageId)
  if (recorded) return { kind: recorded.verdict === 'unreadable' ? 'no_such_job' : recorded.verdict }

  const row = letter.jobId === null ? undefined : tables.jobs.get(letter.jobId)
  const job = row ? toJob(tables, row) : null
  const generation = letter.generation ?? 0
  const verdict = judgeDeadLetter(job, row?.redrivenGeneration ?? 0, generation, letter.budget)
  if (verdict === 'hold') return { kind: 'hold', retryInMs: job!.claimableInMs }
  if (verdict === 'fail') {
    endJob(tables, {
      jobId: row!.jobId,
      by: { kind: 'sweep', fence: row!.fence },
      end: {
        status: 'FAILED',
        error: { code: 'dead_lettered', message: `received ${letter.receiveCount} times without an end` },
      },
      deadLetter: letter,
    })
    return { kind: 'failed' }
  }
  if (verdict === 'republish') redrive(tables, row!)
  const kind = verdict === 'republish' ? 'republished' : verdict
  insertDeadLetter(tables, { ...letter, verdict: kind })
  return { kind }
}

export function parkMessage(tables: Tables, letter: Parameters<Sweeps['parkMessage']>[0]): void {
  insertDeadLetter(tables, { ...letter, jobId: null, generation: null, verdict: 'unreadable' })
}

function redrive(tables: Tables, row: JobRow): void {
  if (row.status === 'RUNNING') row.fence++
  row.status = 'QUEUED'
  row.leaseOwner = null
  row.leaseUntil = null
  row.redrivenGeneration = row.generation
  insertOutboxRow(tables, row.jobId)
  // A row that was there already may have been sent, as the very message that died.
  Object.assign(tables.outbox.get(row.jobId)!, { claimToken: null, claimedUntil: null })
  appendEvent(tables, 'redriven', row)
}
