import type { Registry } from 'prom-client'
import { JOB_ERRORS } from '../../core/job-errors.ts'
import { type JobEnded, jobEnded } from '../../db/jobs/end.ts'
import { countFrom0 } from './registry.ts'

/** Counts the jobs that this process ended, whichever of its calls did it. */
export function countJobEnds(registry: Registry): void {
  const ended = countFrom0(
    ...([registry, 'img42_jobs_ended_total', 'Jobs that this process ended'] as const),
    ['status', 'code'],
    [
      { status: 'SUCCEEDED', code: 'none' },
      ...Object.keys(JOB_ERRORS).map((code) => ({ status: 'FAILED', code })),
    ],
  )
  jobEnded.subscribe((message) => {
    const { status, code } = message as JobEnded
    ended.inc({ status, code: code ?? 'none' })
  })
}
