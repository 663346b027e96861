import type { Step } from '../faults.ts'
import type { Tables } from '../memory/tables.ts'
import type { Report } from './violation.ts'

/** Invariant 9: what makes an outbox row go. */
export interface OutboxHistory {
  /** The broker took a message for the job. */
  sent(jobId: string): void
  /** To be called after each transaction. */
  observe(step: Step): void
}

export function watchOutbox(tables: Tables, report: Report): OutboxHistory {
  /** By job: the row, what it owes a message to, and whether one was taken since it owes it. */
  let rows = new Map<string, { outboxId: number; owedTo: string; sent: boolean }>()
  return {
    sent(jobId) {
      const row = rows.get(jobId)
      if (row) row.sent = true
    },
    observe(step) {
      for (const [jobId, { outboxId, sent }] of rows) {
        const gone = tables.outbox.get(jobId)?.outboxId !== outboxId
        const forgotten = !tables.jobs.has(jobId)
        if (gone && !sent && !forgotten && step !== 'jobs.refusePublication') {
          report(
            'outbox_confirmed',
            `${jobId} at ${step}: its outbox row went, and the broker has no message`,
          )
        }
      }
      rows = new Map(
        [...tables.outbox].map(([jobId, { outboxId }]) => {
          const known = rows.get(jobId)
          // A dead letter and an operator's retry owe a message of their own, also where a row is there already.
          const job = tables.jobs.get(jobId)
          const owedTo = `${outboxId}/${job?.generation}/${job?.redrivenGeneration}`
          return [jobId, known?.owedTo === owedTo ? known : { outboxId, owedTo, sent: false }]
        }),
      )
    },
  }
}
