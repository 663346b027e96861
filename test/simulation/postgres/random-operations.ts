import { DEFAULT_OPTIONS } from '../../../core/job.ts'
import type { Jobs } from '../../../core/ports/jobs.ts'
import { RESULT } from '../../job-result.ts'
import type { Tables } from '../memory/tables.ts'
import type { SeededRandom } from '../seeded-random.ts'

/** One call of the port, to be made on two implementations whose outbox ids differ. */
export interface Operation {
  method: keyof Jobs
  /** @param rowId the outbox row of a job, as this implementation names it */
  arguments(rowId: (jobId: string) => string): unknown[]
}

const JOBS = ['img_a', 'img_b', 'img_c', 'img_d']
const TENANTS = ['one', 'two']
const TOKENS = ['x', 'y']
const LEASE_MS = 1_000
const BUDGET = 2

/** Draws an operation that may well mean something in the state that the tables are in. */
export function drawOperation(random: SeededRandom, tables: Tables): Operation {
  const jobId = random.pick(JOBS)
  const row = tables.jobs.get(jobId)
  const tenant = random.pick(TENANTS)
  const token = random.pick(TOKENS)
  const fence = (row?.fence ?? 0) - (random.chance(0.2) ? 1 : 0)
  const error = random.chance(0.5) ? ({ code: 'timeout', message: 'too slow' } as const) : null
  const delayMs = random.pick([0, 500, 2_000])
  const ageMs = random.pick([0, 1_000, 5_000])
  const key = { tenant, key: 'key', token }
  const plain = (method: keyof Jobs, ...args: unknown[]): Operation => ({ method, arguments: () => args })
  const deadLetter = {
    messageId: `m${random.int(1, 6)}`,
    body: 'body',
    reason: 'why',
    receiveCount: random.int(1, 9),
  }
  const end = random.chance(0.6)
    ? { status: 'SUCCEEDED', outputs: [], warnings: [], result: RESULT }
    : { status: 'FAILED', error: { code: 'corrupt', message: 'no image' } }
  const by = random.pick([{ kind: 'holder', fence }, { kind: 'sweep', fence }, { kind: 'owner' }])
  const idempotency = random.chance(0.6) ? { key: 'key', token, fingerprint: 'print' } : null
  const draws: [weight: number, draw: () => Operation][] = [
    [4, () => plain('reserve', { ...key, leaseMs: LEASE_MS })],
    [1, () => plain('renewReservation', { ...key, leaseMs: LEASE_MS })],
    [1, () => plain('releaseReservation', key)],
    [row ? 0 : 12, () => plain('accept', newJob(jobId, tenant, random.pick([3_000, 60_000]), idempotency))],
    [8, () => plain('claimOutbox', { token, max: 100, leaseMs: LEASE_MS })],
    [6, () => ({ method: 'confirmPublished', arguments: (rowId) => [{ token, rowIds: [rowId(jobId)] }] })],
    [
      2,
      () => ({
        method: 'returnToOutbox',
        arguments: (rowId) => [{ token, rowIds: [rowId(jobId)], delayMs }],
      }),
    ],
    [
      1,
      () => ({
        method: 'refusePublication',
        arguments: (rowId) => [{ token, rowId: rowId(jobId), body: 'body', reason: 'why' }],
      }),
    ],
    [
      14,
      () =>
        plain('claim', {
          jobId,
          owner: random.pick(['worker-1', 'worker-2']),
          leaseMs: LEASE_MS,
          budget: BUDGET,
        }),
    ],
    [4, () => plain('heartbeat', { jobId, fence, leaseMs: LEASE_MS })],
    [3, () => plain('end', { jobId, by, end, ...(random.chance(0.3) && { deadLetter }) })],
    [5, () => plain('putBack', { jobId, fence, charged: random.chance(0.5), delayMs, error })],
    [5, () => plain('republishLost', { ageMs, evidenceMs: 500, queueEmpty: random.chance(0.3), max: 100 })],
    [3, () => plain('rescue', { graceMs: random.pick([0, 1_000]), budget: BUDGET, max: 100 })],
    [2, () => plain('expire', { max: 100 })],
    [
      4,
      () =>
        plain('takeDeadLetter', {
          ...deadLetter,
          jobId: random.chance(0.1) ? null : jobId,
          generation: random.int(0, 1),
          budget: BUDGET,
        }),
    ],
    [1, () => plain('parkMessage', deadLetter)],
    [1, () => plain('bury', jobId)],
    [1, () => plain('buryFinished', { ageMs, max: 100 })],
    [1, () => plain('tombstonesWithObjects', { max: 100 })],
    [1, () => plain('confirmObjectsGone', [jobId])],
    [1, () => plain('oldTombstones', { ageMs, max: 100 })],
    [2, () => plain('forget', [jobId])],
    [1, () => plain('forgetReservations', { ageMs })],
    [1, () => plain('existing', [...JOBS])],
    [2, () => plain('find', jobId)],
    [1, () => plain('findByKey', { tenant, key: 'key' })],
    [1, () => plain('endedAmong', JOBS.slice(0, 3))],
    [1, () => plain('transitionsAfter', [{ jobId, afterId: '0' }])],
    [
      1,
      () =>
        plain('list', {
          tenant,
          status: random.pick([null, 'QUEUED', 'FAILED']),
          createdAfter: row && random.chance(0.5) ? new Date(row.createdAt) : null,
          cursor: row && random.chance(0.5) ? { createdAtUs: String(row.createdAt * 1_000), jobId } : null,
          limit: random.int(1, 2),
        }),
    ],
    [1, () => plain('queuePace')],
  ]
  let at = random.uniform() * draws.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, draw] of draws) {
    at -= weight
    if (at < 0) return draw()
  }
  return draws[0]![1]()
}

function newJob(jobId: string, tenant: string, deadlineMs: number, idempotency: object | null) {
  return {
    ...{ jobId, tenant, deadlineMs, idempotency },
    objectKey: `originals/${jobId}`,
    original: { contentType: 'image/png', bytes: 1, sha256: 'aa', width: 1, height: 1 },
    options: DEFAULT_OPTIONS,
    warnings: [],
    // Two of the four ask for a callback.
    traceparent: /[bd]$/.test(jobId) ? `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` : null,
    callbackUrl: /[ac]$/.test(jobId) ? 'https://hooks.example/' : null,
  }
}
