import { afterEach, beforeEach, describe } from 'vitest'
import { DEFAULT_OPTIONS, type Job, type JobError } from '../../core/job.ts'
import type { ClaimOutcome, Jobs, NewJob } from '../../core/ports/jobs.ts'
import { RESULT, STILL_JPEG } from '../job-result.ts'
import { admissionRules } from './jobs-admission.ts'
import { callbackRules } from './jobs-callbacks.ts'
import { deadLetterRules } from './jobs-dead-letters.ts'
import { publishingRules } from './jobs-publishing.ts'
import { readingRules } from './jobs-reading.ts'
import { retentionRules } from './jobs-retention.ts'
import { sweepRules } from './jobs-sweeps.ts'
import { workRules } from './jobs-work.ts'

/** What the suite needs of an implementation; opened anew, and empty, for each test. */
export interface JobsUnderTest {
  jobs: Jobs
  /** Makes everything that is stored `ms` milliseconds older. */
  age(ms: number): Promise<void>
  /** What stands beside the job's row. */
  look(jobId: string): Promise<BesideTheJob>
  close(): Promise<void>
}

export interface BesideTheJob {
  /** In the order in which they happened. */
  events: string[]
  outboxRows: number
  /** The markers' operation ids. */
  markers: string[]
  deadLetters: { messageId: string | null; verdict: string; reason: string; receiveCount: number }[]
  /** What is owed of them. */
  callbacks: { callbackId: string; event: string; url: string; error: JobError | null }[]
}

/** Every rule of the `Jobs` port, as tests of one implementation. */
export function jobsConformance(name: string, open: () => Promise<JobsUnderTest>): void {
  describe(`Jobs on ${name}`, () => {
    let opened: JobsUnderTest
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    const bench = createBench(() => opened)
    describe('admission', () => admissionRules(bench))
    describe('publishing', () => publishingRules(bench))
    describe('work', () => workRules(bench))
    describe('sweeps', () => sweepRules(bench))
    describe('callbacks', () => callbackRules(bench))
    describe('dead letters', () => deadLetterRules(bench))
    describe('retention', () => retentionRules(bench))
    describe('reading', () => readingRules(bench))
  })
}

/** Beside a job that there is not, or no longer. */
export const NOTHING: BesideTheJob = {
  events: [],
  outboxRows: 0,
  markers: [],
  deadLetters: [],
  callbacks: [],
}

export const LEASE_MS = 30_000
export const BUDGET = 3

export type Bench = ReturnType<typeof createBench>

/** The steps that tests put a job through on the way to what they are about. */
function createBench(opened: () => JobsUnderTest) {
  let minted = 0
  let claims = 0
  const jobs = () => opened().jobs

  async function accepted(overrides: Partial<NewJob> = {}): Promise<string> {
    const jobId = overrides.jobId ?? `img_test${++minted}`
    await jobs().accept({ ...newJob(jobId), ...overrides })
    return jobId
  }

  /** Confirms everything that waits in the outbox. */
  async function published(token = 'relay'): Promise<string[]> {
    const rows = await jobs().claimOutbox({ token, max: 100, leaseMs: LEASE_MS })
    await jobs().confirmPublished({ token, rowIds: rows.map(({ rowId }) => rowId) })
    return rows.map(({ jobId }) => jobId)
  }

  /** Each claim is another process's, unless it names its owner. */
  const claim = (jobId: string, owner = `worker-${++claims}`): Promise<ClaimOutcome> =>
    jobs().claim({ jobId, owner, leaseMs: LEASE_MS, budget: BUDGET })

  /** Claims a job that can be claimed; its fence. */
  async function claimed(jobId: string): Promise<number> {
    const outcome = await claim(jobId)
    if (outcome.kind !== 'claimed') throw new Error(`not claimed but ${outcome.kind}`)
    return outcome.fence
  }

  const putBack = (jobId: string, fence: number, charged = true, delayMs = 0) =>
    jobs().putBack({ jobId, fence, charged, delayMs, error: null })

  const succeed = (jobId: string, fence: number) =>
    jobs().end({
      jobId,
      by: { kind: 'holder', fence },
      end: { status: 'SUCCEEDED', outputs: [OUTPUT], warnings: [], result: RESULT },
    })

  async function found(jobId: string): Promise<Job> {
    const job = await jobs().find(jobId)
    if (!job) throw new Error(`there is no job ${jobId}`)
    return job
  }

  /** A job that was claimed `attempts` times and put back charged each time. */
  async function attempted(attempts: number, overrides: Partial<NewJob> = {}): Promise<string> {
    const jobId = await accepted(overrides)
    await published()
    for (let i = 0; i < attempts; i++) await putBack(jobId, await claimed(jobId))
    return jobId
  }

  return {
    jobs,
    age: (ms: number) => opened().age(ms),
    look: (jobId: string) => opened().look(jobId),
    accepted,
    published,
    claim,
    claimed,
    putBack,
    succeed,
    found,
    attempted,
  }
}

export function newJob(jobId: string): NewJob {
  return {
    jobId,
    tenant: 'default',
    objectKey: `originals/${jobId}`,
    original: { contentType: 'image/png', bytes: 3, sha256: 'aa', width: 1, height: 1 },
    options: DEFAULT_OPTIONS,
    warnings: [{ code: 'type_mismatch', message: 'said to be a JPEG, is a PNG' }],
    deadlineMs: 86_400_000,
    callbackUrl: null,
    traceparent: null,
    idempotency: null,
  }
}

export const OUTPUT = {
  name: 'thumbnail',
  key: 'outputs/img_test/thumbnail@engine',
  ...STILL_JPEG,
  bytes: 5,
  sha256: 'bb',
  width: 1,
  height: 1,
}
