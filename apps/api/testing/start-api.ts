import { pino } from 'pino'
import { expect } from 'vitest'
import { ALLOW_NOTHING } from '../../../core/callback-address.ts'
import { createInspector } from '../../../core/image/inspector.ts'
import { DEFAULT_LIMITS, type Limits } from '../../../core/limits.ts'
import type { Jobs } from '../../../core/ports/jobs.ts'
import type { ObjectStore } from '../../../core/ports/object-store.ts'
import type { Tenants } from '../../../core/ports/tenants.ts'
import { BUILT_IN_PRESETS, type Presets } from '../../../core/preset-file.ts'
import { DEFAULT_TIMING, type Timing } from '../../../core/timing.ts'
import { systemClock as clock } from '../../../infra/system-clock.ts'
import { systemRandom as random } from '../../../infra/system-random.ts'
import { createMemoryJobs } from '../../../test/simulation/memory/memory-jobs.ts'
import { createMemoryObjectStore } from '../../../test/simulation/memory/memory-object-store.ts'
import { createTables } from '../../../test/simulation/memory/tables.ts'
import { type ApiParts, createApp } from '../app.ts'
import { createInFlight } from '../in-flight.ts'
import { createJobWatch } from '../job-watch.ts'
import { createPace } from '../queue-pace.ts'
import { serve } from '../server.ts'

export const TEST_LIMITS: Limits = { ...DEFAULT_LIMITS, maxBytes: 1_000_000, maxPixels: 1_000_000 }

export type Body = NonNullable<RequestInit['body']> | null

/** What any answer's JSON may hold. */
export interface Answer {
  job_id: string
  status: string | number
  url: string
  warnings: unknown[]
  type: string
  code: string
  detail: string
}

export async function jsonOf(response: Response): Promise<Answer> {
  return (await response.json()) as Answer
}

/** The problem that `response` has to be. */
export async function problemOf(response: Response): Promise<Answer> {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = await jsonOf(response)
  expect(problem).toMatchObject({ status: response.status, type: `urn:img42:problem:${problem.code}` })
  return problem
}

export interface Overrides {
  limits?: Partial<Limits>
  timing?: Partial<Timing>
  idleMs?: number
  silenceMs?: number
  headersMs?: number
  /** Asks for their keys. */
  tenants?: Tenants
  corsOrigins?: string[]
  idempotencyRequired?: boolean
  callbacks?: ApiParts['callbacks']
  presets?: Presets
  /** Instead of tables in memory. */
  jobs?: Jobs
  /** Laid over the ports, to make them fail. */
  failing?: { jobs?: Partial<Jobs>; objectStore?: Partial<ObjectStore> }
}

/** The API on a free port, over ports in memory unless told otherwise. */
export async function startApi(overrides: Overrides = {}) {
  const tables = createTables(clock.now)
  const jobs: Jobs = { ...(overrides.jobs ?? createMemoryJobs(tables)), ...overrides.failing?.jobs }
  const memoryStore = createMemoryObjectStore(clock.now)
  const objectStore: ObjectStore = { ...memoryStore, ...overrides.failing?.objectStore }
  const log: Record<string, unknown>[] = []
  const state = { draining: false }
  const accepted: string[] = []
  const inFlight = createInFlight()
  const logger = pino({ level: 'debug' }, { write: (line: string) => log.push(JSON.parse(line)) })
  const watch = createJobWatch({ jobs, clock, log: logger })
  const app = createApp({
    ...{ jobs, objectStore, clock, random, createInspector, inFlight },
    presets: overrides.presets ?? BUILT_IN_PRESETS,
    limits: { ...TEST_LIMITS, ...overrides.limits },
    timing: { ...DEFAULT_TIMING, ...overrides.timing },
    idleMs: overrides.idleMs ?? 10_000,
    // Nothing is sent from tables in memory.
    callbacks: overrides.callbacks ?? { list: async () => [], resend: async () => 'unknown' },
    onAccepted: (jobId) => accepted.push(jobId),
    draining: () => state.draining,
    tenants: overrides.tenants ?? null,
    corsOrigins: overrides.corsOrigins ?? [],
    watch,
    pace: createPace({ jobs, clock }),
    idempotencyRequired: overrides.idempotencyRequired ?? false,
    callbackAllow: ALLOW_NOTHING,
    log: logger,
  })
  const server = await serve(app, {
    host: '127.0.0.1',
    port: 0,
    silenceMs: overrides.silenceMs ?? 60_000,
    headersMs: overrides.headersMs ?? 15_000,
  })
  const url = `http://127.0.0.1:${server.port}`
  return {
    ...{ url, port: server.port, tables, jobs, watch, objectStore, log, state, accepted, inFlight },
    /** What is stored under `prefix`. */
    keys: async (prefix = '') => {
      const objects = await memoryStore.list({ prefix }, AbortSignal.timeout(1_000))
      return objects.map(({ key }) => key)
    },
    post: (body: Body, headers: Record<string, string> = {}, query = '') =>
      fetch(`${url}/v1/images${query}`, { method: 'POST', body, headers }),
    get: (path: string, init: RequestInit = {}) => fetch(url + path, init),
    drain: server.drain,
    stop: async () => {
      await server.drain(0)
      await inFlight.settled()
    },
  }
}

export type ApiUnderTest = Awaited<ReturnType<typeof startApi>>
