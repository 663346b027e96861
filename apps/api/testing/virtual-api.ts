import { expect } from 'vitest'
import { DependencyError } from '../../../core/errors.ts'
import { createInspector } from '../../../core/image/inspector.ts'
import { DEFAULT_OPTIONS } from '../../../core/job.ts'
import { DEFAULT_LIMITS } from '../../../core/limits.ts'
import { DEFAULT_TIMING } from '../../../core/timing.ts'
import { createMemoryJobs } from '../../../test/simulation/memory/memory-jobs.ts'
import { createMemoryObjectStore } from '../../../test/simulation/memory/memory-object-store.ts'
import { createTables } from '../../../test/simulation/memory/tables.ts'
import { createScheduler } from '../../../test/simulation/scheduler.ts'
import { seededRandom } from '../../../test/simulation/seeded-random.ts'
import { createVirtualClock } from '../../../test/simulation/virtual-clock.ts'
import { acceptUpload } from '../accept-upload.ts'
import type { Upload, UploadPorts } from '../upload.ts'
import { makePng } from './png.ts'

export type PortCall =
  | 'reserve'
  | 'renewReservation'
  | 'releaseReservation'
  | 'accept'
  | 'find'
  | 'put'
  | 'delete'

/** Stands between the protocol and the ports: calls `effect` when, and if, it likes. */
export type Intercept = (call: PortCall, effect: () => Promise<unknown>) => Promise<unknown>

export const PNG = makePng()
export const SETTINGS = {
  limits: { ...DEFAULT_LIMITS, maxBytes: 1_000_000 },
  timing: DEFAULT_TIMING,
  idleMs: 30_000,
}

/** The upload's protocol over ports in memory and virtual time. */
export function createVirtualApi() {
  const random = seededRandom('upload')
  const scheduler = createScheduler(random.fork('order'), Date.UTC(2026, 0, 1))
  const clock = createVirtualClock(scheduler)
  const tables = createTables(scheduler.now)
  const memoryJobs = createMemoryJobs(tables)
  const store = createMemoryObjectStore(scheduler.now)
  const calls: (PortCall | 'onAccepted')[] = []

  function process(intercept: Intercept = (_call, effect) => effect()) {
    const ports = portsThrough(intercept)
    return (upload: Partial<Upload> = {}, signal: AbortSignal = new AbortController().signal) =>
      acceptUpload(ports, SETTINGS, { ...anUpload(), ...upload }, signal)
  }

  function portsThrough(intercept: Intercept): UploadPorts {
    function port<Arguments extends unknown[], Answer>(
      call: PortCall,
      method: (...args: Arguments) => Promise<Answer>,
    ): (...args: Arguments) => Promise<Answer> {
      return (...args) => {
        calls.push(call)
        return intercept(call, () => method(...args)) as Promise<Answer>
      }
    }

    return {
      jobs: {
        reserve: port('reserve', memoryJobs.reserve),
        renewReservation: port('renewReservation', memoryJobs.renewReservation),
        releaseReservation: port('releaseReservation', memoryJobs.releaseReservation),
        accept: port('accept', memoryJobs.accept),
        find: port('find', memoryJobs.find),
      },
      objectStore: { put: port('put', store.put), delete: port('delete', store.delete) },
      clock,
      random,
      createInspector,
      onAccepted: () => void calls.push('onAccepted'),
    }
  }

  return {
    ...{ clock, scheduler, tables, store, calls },
    jobs: memoryJobs,
    /** The upload of a process of its own, whose calls to the ports go through `intercept`. */
    process,
    upload: process(),
    /** Lets time pass until `promise` settles, for `forMs` at most, and gives what it settled to. */
    async until<T>(promise: Promise<T>, forMs = 2 * 3_600_000): Promise<T> {
      let settled = false
      const mark = () => {
        settled = true
      }
      promise.then(mark, mark)
      const end = await scheduler.run(scheduler.now() + forMs, () => settled)
      if (!settled) throw new Error(`nothing came of it: ${end}`)
      return promise
    },
    /** Lets time pass. */
    async pass(ms: number): Promise<void> {
      let passed = false
      scheduler.schedule(ms, () => {
        passed = true
      })
      await scheduler.run(scheduler.now() + ms, () => passed)
    },
  }
}

export function anUpload(): Upload {
  return {
    ...{ tenant: 'default', key: null, options: DEFAULT_OPTIONS },
    ...{ declaredType: 'image/png', bytes: PNG.length, body: bodyOf(PNG) },
    ...{ announcedSha256: null, holdsBodyBack: false },
  }
}

export async function* bodyOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

export function outage(): DependencyError {
  return new DependencyError('database', 'no answer')
}

export function never(): Promise<never> {
  return new Promise(() => {})
}

export type VirtualApi = ReturnType<typeof createVirtualApi>

/** Whatever happened: a job has its original, a key at most one job. */
export function checkWorld({ tables, store }: VirtualApi): void {
  for (const { objectKey, original } of tables.jobs.values()) {
    expect(store.look(objectKey)).toEqual({ bytes: original.bytes, sha256: original.sha256 })
  }
  expect(tables.jobs.size).toBeLessThanOrEqual(1)
  expect(tables.outbox.size).toBe(tables.jobs.size)
}
