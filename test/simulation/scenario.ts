import { DEFAULT_TIMING, type Timing } from '../../core/timing.ts'
import type { Fault } from './faults.ts'
import type { SimulatedImage } from './simulated-image.ts'

/** All that decides a run, besides the faults that a plan places. */
export interface Scenario {
  seed: string
  timing: Timing
  budget: number
  /** Attempts at once, per worker. */
  concurrency: number
  workers: number
  relays: number
  /** Reconcilers that sweep; 0: the healers are off. */
  sweepers: number
  uploads: PlannedUpload[]
  /** Whether a client that got no answer sends its request again. */
  clientRetries: boolean
  /** By fault, how likely each call meets it. */
  faultRates: Partial<Record<Fault, number>>
  outages: Outage[]
  /** When faults end, in milliseconds from the start; what follows has to put everything right. */
  faultsUntilMs: number
  latencyMs: { least: number; most: number }
  /** How long a killed process takes to come back. */
  restartMs: { least: number; most: number }
  freezeMs: { least: number; most: number }
  /** By process name, how far its clock runs ahead of the database's. */
  skewMs: Record<string, number>
  queue: {
    maxReceiveCount: number
    inFlightLimit: number
    duplicateRate: number
    returnRate: number
    reorders: boolean
  }
  /** Outbox ids that do not rise in the order of the commits. */
  idsOutOfOrder: boolean
  /** When something happens from outside. */
  events: PlannedEvent[]
  /** Whether the run goes on until nothing is left of any job. */
  untilForgotten: boolean
  /** Whether the workers ask a moderator; left out: they do not. */
  moderated?: boolean
  /**
   * What the scenario's faults leave to be promised, over what always is. `calm`: nothing goes wrong, so everything
   * happens once. `deploys`: nothing but deploys, so no attempt is charged for them. `outages`: nothing but
   * dependencies that do not answer and do nothing, so no good image fails or is charged. `few_faults`: too little to
   * fail a good image, though it may be charged.
   */
  promise: 'none' | 'calm' | 'deploys' | 'outages' | 'few_faults'
}

export interface PlannedUpload {
  atMs: number
  tenant: string
  key: string | null
  image: SimulatedImage
  /** The client goes away in the middle of its body. */
  breaksOff: boolean
}

/** A dependency that nobody reaches from `fromMs` to `toMs`. */
export interface Outage {
  port: 'jobs' | 'queue' | 'store' | 'moderator'
  fromMs: number
  toMs: number
}

export type PlannedEvent =
  /** A worker is told to stop, and another starts. */
  | { kind: 'deploy'; atMs: number; worker: number }
  /** Somebody sends the jobs' queue a message that nobody can read. */
  | { kind: 'garbage'; atMs: number }
  /** The queue loses its messages. */
  | { kind: 'purge'; atMs: number }
  /** The owner deletes the image of the n-th upload. */
  | { kind: 'delete'; atMs: number; upload: number }
  /** The owner cancels the job of the n-th upload. */
  | { kind: 'cancel'; atMs: number; upload: number }
  /** An operator retries all jobs that failed. */
  | { kind: 'retry'; atMs: number }

/** The plainest story: one job, one process of each kind, a healthy world. */
export function oneJob(seed: string, overrides: Partial<Scenario> = {}): Scenario {
  return {
    seed,
    timing: { ...DEFAULT_TIMING, relayPollMs: 5_000, sweepMs: 20_000 },
    budget: 5,
    concurrency: 2,
    workers: 1,
    relays: 1,
    sweepers: 1,
    uploads: [
      {
        atMs: 100,
        tenant: 'tenant-1',
        key: 'key-1',
        image: { kind: 'good', renderMs: 500, salt: '1' },
        breaksOff: false,
      },
    ],
    clientRetries: true,
    faultRates: {},
    outages: [],
    faultsUntilMs: 0,
    latencyMs: { least: 1, most: 5 },
    restartMs: { least: 1_000, most: 1_000 },
    freezeMs: { least: 100_000, most: 100_000 },
    skewMs: {},
    queue: { maxReceiveCount: 50, inFlightLimit: 1_000, duplicateRate: 0, returnRate: 0, reorders: false },
    idsOutOfOrder: false,
    events: [],
    untilForgotten: false,
    promise: 'none',
    ...overrides,
  }
}
