import type { CallbackFacts } from '../core/callback.ts'
import type { JobErrorCode } from '../core/job.ts'

/** The columns of a callback that say what it says. */
export interface FactsRow {
  callback_id: string
  job_id: string
  event: CallbackFacts['event']
  created_at: Date
  error_code: JobErrorCode | null
  error_message: string | null
}

export function toFacts(row: FactsRow): CallbackFacts {
  return {
    callbackId: row.callback_id,
    jobId: row.job_id,
    event: row.event,
    createdAt: row.created_at,
    error: row.error_code && { code: row.error_code, message: row.error_message ?? '' },
  }
}
