import { createHash } from 'node:crypto'
import { DEFAULT_OPTIONS, type Job, type JobOptions } from '../../../core/job.ts'
import { originalKey } from '../../../core/object-keys.ts'
import type { Renderer } from '../../../core/ports/renderer.ts'
import { DEFAULT_TIMING } from '../../../core/timing.ts'
import { systemClock as clock } from '../../../infra/system-clock.ts'
import { systemRandom as random } from '../../../infra/system-random.ts'
import { createMemoryJobs } from '../../../test/simulation/memory/memory-jobs.ts'
import { createMemoryObjectStore } from '../../../test/simulation/memory/memory-object-store.ts'
import { createTables } from '../../../test/simulation/memory/tables.ts'
import { type AttemptParts, runAttempt } from '../attempt.ts'
import type { HeldMessage } from '../held-message.ts'

/** Attempts at accepted jobs, over tables and a store in memory. */
export function createAttemptBench(more: Partial<AttemptParts> & { renderer: Renderer }) {
  const jobs = createMemoryJobs(createTables(clock.now))
  const objectStore = createMemoryObjectStore(clock.now)
  const shut: string[] = []
  const messages: string[] = []
  const message: HeldMessage = {
    adopt() {},
    async hide(seconds) {
      messages.push(`hidden for ${seconds} s`)
    },
    async delete() {
      messages.push('deleted')
    },
    receiveCount: 1,
  }
  const parts: AttemptParts = {
    ...{ jobs, objectStore, clock, random, timing: DEFAULT_TIMING, budget: 5 },
    ...{ exposeGps: false, moderation: null, log: { debug() {}, info() {}, warn() {}, error() {} } },
    gate: { passed: async () => {}, shut: (dependency) => shut.push(dependency), served() {} },
    ...more,
  }

  return {
    ...{ parts, jobs, objectStore },
    /** The dependencies for which the gate was shut. */
    shut,
    /** What was done with the message, in order. */
    messages,
    async accepted(original: Buffer, options: JobOptions = DEFAULT_OPTIONS): Promise<string> {
      const sha256 = createHash('sha256').update(original).digest('hex')
      const jobId = `img_${sha256.slice(0, 8)}`
      const key = originalKey(jobId)
      await objectStore.put({ key, body: original, contentType: 'image/png' }, AbortSignal.timeout(5_000))
      await jobs.accept({
        ...{ jobId, tenant: 'default', objectKey: key, options, warnings: [], deadlineMs: 3_600_000 },
        original: { contentType: 'image/png', bytes: original.length, sha256, width: 1, height: 1 },
        callbackUrl: null,
        traceparent: null,
        idempotency: null,
      })
      return jobId
    },
    /** Claims the job, runs one attempt at it, and gives the job as it stands then. */
    async attempt(jobId: string): Promise<Job> {
      const claim = await jobs.claim({ jobId, owner: 'worker', leaseMs: 30_000, budget: parts.budget })
      if (claim.kind !== 'claimed') throw new Error(`not claimed but ${claim.kind}`)
      await runAttempt(parts, claim, message, clock.now(), new AbortController().signal)
      return (await jobs.find(jobId))!
    },
  }
}
