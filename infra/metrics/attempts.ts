import { Histogram, type Registry } from 'prom-client'
import type { PermanentCode, WorkCode } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ClaimOutcome, JobEnd, Jobs } from '../../core/ports/jobs.ts'
import { countFrom0, eachOf } from './registry.ts'

type Claimed = Extract<ClaimOutcome, { kind: 'claimed' }>

/**
 * A worker's jobs, whose answers tell how its attempts go: what claims find, how attempts end, which fences are lost, and how
 * long it all took.
 */
export function observeAttempts(registry: Registry, jobs: Jobs, clock: Clock): Jobs {
  const claims = countFrom0(
    ...([registry, 'img42_claims_total', 'What deliveries’ claims found'] as const),
    ['found'],
    eachOf('found', ['claimed', 'not_yet', 'finished', 'unknown']),
  )
  const attempts = countFrom0(
    ...([registry, 'img42_attempts_total', 'Attempts by how they ended'] as const),
    ['outcome', 'code'],
    [
      { outcome: 'succeeded', code: 'none' },
      { outcome: 'given_back', code: 'none' },
      { outcome: 'given_back', code: 'dependency_unavailable' },
      ...FAILED_CODES.map((code) => ({ outcome: 'failed', code })),
      ...RETRIED_CODES.map((code) => ({ outcome: 'retried', code })),
    ],
  )
  const lostFences = countFrom0(
    ...([registry, 'img42_lost_fences_total', 'Writes refused for an old fence'] as const),
    ['call'],
    eachOf('call', ['heartbeat', 'put_back', 'end']),
  )
  const wait = durations(registry, 'img42_job_wait_seconds', 'From the acceptance to the first claim')
  const run = durations(registry, 'img42_job_run_seconds', 'From the claim to the end')
  const endToEnd = durations(registry, 'img42_job_end_to_end_seconds', 'From the acceptance to the end')

  /** When the attempts that run here were claimed. */
  const running = new Map<string, { claim: Claimed; claimedAt: number; waitedMs: number }>()

  return {
    ...jobs,
    async claim(given) {
      const found = await jobs.claim(given)
      claims.inc({ found: found.kind })
      if (found.kind === 'claimed') {
        const waitedMs = clock.now() - found.job.createdAt.getTime()
        running.set(given.jobId, { claim: found, claimedAt: performance.now(), waitedMs })
      }
      return found
    },
    async heartbeat(given) {
      const held = await jobs.heartbeat(given)
      if (!held) {
        lostFences.inc({ call: 'heartbeat' })
        running.delete(given.jobId)
      }
      return held
    },
    async end(given) {
      const ended = await jobs.end(given)
      if (given.by.kind !== 'holder') return ended
      if (!ended) lostFences.inc({ call: 'end' })
      else if (given.end.status === 'SUCCEEDED') attempts.inc({ outcome: 'succeeded', code: 'none' })
      else attempts.inc({ outcome: 'failed', code: given.end.error.code })
      if (ended) tellDurations(given)
      running.delete(given.jobId)
      return ended
    },
    async putBack(given) {
      const back = await jobs.putBack(given)
      running.delete(given.jobId)
      if (!back) lostFences.inc({ call: 'put_back' })
      else
        attempts.inc({ outcome: given.charged ? 'retried' : 'given_back', code: given.error?.code ?? 'none' })
      return back
    },
  }

  function tellDurations({ jobId, end }: JobEnd): void {
    const attempt = running.get(jobId)
    if (!attempt) return
    const { claim, claimedAt, waitedMs } = attempt
    const ranMs = performance.now() - claimedAt
    const made = end.status === 'SUCCEEDED' ? end.outputs.map(({ format }) => format as string) : []
    for (const format of new Set(made.length > 0 ? made : ['none'])) {
      run.observe({ format }, ranMs / 1_000)
      // A job that an operator retried has waited for the operator.
      if (claim.job.generation > 1) continue
      endToEnd.observe({ format }, Math.max(0, waitedMs + ranMs) / 1_000)
      // The database's clock may be ahead of this one.
      if (claim.attempt === 1) wait.observe({ format }, Math.max(0, waitedMs) / 1_000)
    }
  }
}

/** With which an attempt may be charged and tried again, and with which one may end its job. */
const RETRIED_CODES: WorkCode[] = [
  'renderer_crashed',
  'renderer_out_of_memory',
  'timeout',
  'moderation_failed',
  'internal',
]
const FAILED_CODES: (PermanentCode | 'attempts_exhausted')[] = [
  'unsupported_type',
  'corrupt',
  'truncated',
  'too_many_pixels',
  'too_many_frames',
  'not_strict',
  'original_missing',
  'attempts_exhausted',
]

function durations(registry: Registry, name: string, help: string): Histogram<'format'> {
  // 15 and 30 are half the default visibility and the whole of it.
  const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 600, 3_600, 21_600]
  return new Histogram({ name, help, labelNames: ['format'], buckets, registers: [registry] })
}
