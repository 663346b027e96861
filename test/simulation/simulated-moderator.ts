import { createHash } from 'node:crypto'
import type { Moderation } from '../../core/job.ts'
import type { Moderator } from '../../core/ports/moderator.ts'
import type { Report } from './invariants/violation.ts'
import type { JobRow } from './memory/tables.ts'

export interface SimulatedModerator extends Moderator {
  /** Whether a job that SUCCEEDED has its picture's verdict, and what follows from that. */
  check(job: JobRow): void
}

/** Judges by a picture's bytes, so that each attempt has to hear the same; rejects a quarter of all pictures. */
export function createSimulatedModerator(report: Report): SimulatedModerator {
  const judged = new Map<string, Moderation>()
  return {
    async judge({ jobId, body }) {
      const hash = createHash('sha256').update(body).digest()
      const verdict = hash[0]! < 64 ? ('rejected' as const) : ('approved' as const)
      const moderation = { verdict, labels: [hash.toString('hex', 0, 4)] }
      const before = judged.get(jobId)
      if (before && before.labels[0] !== moderation.labels[0]) {
        report('moderation', `${jobId} was shown to the moderator with other bytes than before`)
      }
      judged.set(jobId, moderation)
      return moderation
    },
    async ping() {},
    check({ jobId, status, outputs, result }) {
      if (status !== 'SUCCEEDED') return
      const verdict = judged.get(jobId)
      const recorded = result?.moderation
      if (!verdict || recorded?.verdict !== verdict.verdict || recorded.labels[0] !== verdict.labels[0]) {
        report(
          'moderation',
          `${jobId} has ${JSON.stringify(recorded)}, and was judged ${JSON.stringify(verdict)}`,
        )
      }
      if (((outputs?.length ?? 0) === 0) !== (verdict?.verdict === 'rejected')) {
        report('moderation', `${jobId} is ${verdict?.verdict} and has ${outputs?.length} outputs`)
      }
    },
  }
}
