import { callbackId } from '../../../core/callback.ts'
import { isTerminal } from '../../../core/job.ts'
import { exhausted, expired } from '../../../core/job-ends.ts'
import type { ClaimOutcome, JobEnd, Work } from '../../../core/ports/jobs.ts'
import { appendEvent, hasRunOut, insertDeadLetter, type JobRow, type Tables, toJob } from './tables.ts'

type Arguments<Method extends keyof Work> = Parameters<Work[Method]>[0]

export function claim(tables: Tables, { jobId, owner, leaseMs, budget }: Arguments<'claim'>): ClaimOutcome {
  const row = tables.jobs.get(jobId)
  if (!row) return { kind: 'unknown' }
  const now = tables.now()
  const own = row.leaseOwner === owner
  const free = (row.status === 'QUEUED' && row.runAt <= now) || hasRunOut(tables, row)
  if (own || (free && row.attempts < budget && row.deadlineAt > now)) {
    row.status = 'RUNNING'
    if (!own) {
      row.fence++
      row.attempts++
      appendEvent(tables, 'claimed', row)
    }
    row.claimedAt = now
    row.republications = 0
    row.leaseOwner = owner
    row.leaseUntil = now + leaseMs
    return { kind: 'claimed', fence: row.fence, attempt: row.attempts, job: toJob(tables, row) }
  }
  if (isTerminal(row.status)) return { kind: 'finished' }
  const job = toJob(tables, row)
  if (job.claimableInMs > 0) return { kind: 'not_yet', retryInMs: job.claimableInMs }
  const ended = endJob(tables, {
    jobId,
    by: { kind: 'sweep', fence: row.fence },
    ...(row.attempts >= budget ? exhausted(row.attempts, row.lastError) : expired()),
  })
  return ended ? { kind: 'finished' } : { kind: 'not_yet', retryInMs: 1_000 }
}

export function heartbeat(tables: Tables, { jobId, fence, leaseMs }: Arguments<'heartbeat'>): boolean {
  const row = running(tables, jobId, fence)
  if (row) row.leaseUntil = tables.now() + leaseMs
  return row !== null
}

export function endJob(tables: Tables, { jobId, by, end, deadLetter }: JobEnd): boolean {
  const row = tables.jobs.get(jobId)
  if (!row || !mayEnd(tables, row, by)) return false
  const operationId = `${jobId}/${row.generation}`
  if (tables.processedOperations.has(operationId)) throw new Error(`duplicate key: marker ${operationId}`)
  row.status = end.status
  if (end.status === 'SUCCEEDED') {
    row.outputs = structuredClone(end.outputs)
    row.result = structuredClone(end.result)
    row.warnings = [...row.warnings, ...structuredClone(end.warnings)]
  } else {
    row.error = structuredClone(end.error)
  }
  if (by.kind !== 'holder') row.fence++
  row.finishedAt = tables.now()
  row.leaseOwner = null
  row.leaseUntil = null
  tables.processedOperations.set(operationId, { jobId, at: tables.now() })
  appendEvent(tables, end.status === 'SUCCEEDED' ? 'succeeded' : 'failed', row)
  oweCallback(tables, row)
  if (deadLetter) {
    insertDeadLetter(tables, { ...deadLetter, jobId, generation: row.generation, verdict: 'failed' })
  }
  return true
}

/** To the job's own URL: in these tables no tenant has one. */
function oweCallback(tables: Tables, row: JobRow): void {
  const { jobId, tenant, callbackUrl: url, status } = row
  if (url === null) return
  const id = callbackId(jobId, row.generation)
  tables.callbacks.set(id, {
    ...{ callbackId: id, jobId, tenant, url, createdAt: tables.now() },
    event: status === 'SUCCEEDED' ? 'job.succeeded' : 'job.failed',
    error: structuredClone(row.error),
  })
}

function mayEnd(tables: Tables, row: JobRow, by: JobEnd['by']): boolean {
  switch (by.kind) {
    case 'holder':
      return row.status === 'RUNNING' && row.fence === by.fence
    case 'sweep':
      return row.fence === by.fence && (row.status === 'QUEUED' || hasRunOut(tables, row))
    case 'owner':
      return !isTerminal(row.status)
  }
}

export function putBack(
  tables: Tables,
  { jobId, fence, charged, delayMs, error }: Arguments<'putBack'>,
): boolean {
  const row = running(tables, jobId, fence)
  if (!row) return false
  row.status = 'QUEUED'
  row.fence++
  if (!charged) row.attempts--
  row.runAt = tables.now() + delayMs
  row.leaseOwner = null
  row.leaseUntil = null
  row.lastError = structuredClone(error) ?? row.lastError
  appendEvent(tables, 'put_back', row)
  return true
}

function running(tables: Tables, jobId: string, fence: number): JobRow | null {
  const row = tables.jobs.get(jobId)
  return row && row.status === 'RUNNING' && row.fence === fence ? row : null
}
