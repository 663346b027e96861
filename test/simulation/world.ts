import type { Jobs } from '../../core/ports/jobs.ts'
import type { ReceivedMessage } from '../../core/ports/queue.ts'
import { type Coverage, createCoverage } from './coverage.ts'
import { applies, type FaultPlan, type Step } from './faults.ts'
import { watchCallbacks } from './invariants/callbacks.ts'
import { checkDeadLetter } from './invariants/dead-letters.ts'
import { watchDrains } from './invariants/drains.ts'
import { watchFences } from './invariants/fences.ts'
import { OPERATOR_RETRY, watchJobs } from './invariants/job-history.ts'
import { checkDeletion, jobOf } from './invariants/messages.ts'
import { checkObjects } from './invariants/objects.ts'
import { watchOutbox } from './invariants/outbox-history.ts'
import type { Report, Violation } from './invariants/violation.ts'
import { createMemoryJobs } from './memory/memory-jobs.ts'
import { createMemoryObjectStore, type MemoryObjectStore } from './memory/memory-object-store.ts'
import {
  createMemoryQueue,
  type MemoryQueue,
  type Mischief,
  type QueueObserver,
} from './memory/memory-queue.ts'
import { retryFailedJobs } from './memory/operator.ts'
import { createTables, type Tables } from './memory/tables.ts'
import { createNetwork, type Network } from './network.ts'
import type { Scenario } from './scenario.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { type SeededRandom, seededRandom } from './seeded-random.ts'
import { type Sightings, watchSightings } from './sightings.ts'
import type { SimulatedImage } from './simulated-image.ts'
import { createSimulatedModerator, type SimulatedModerator } from './simulated-moderator.ts'
import { connect, type EffectListener, type SimulatedPorts } from './simulated-ports.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { createSimulatedRenderer } from './simulated-renderer.ts'
import { createTrace, type Trace } from './trace.ts'
import { createVirtualClock } from './virtual-clock.ts'

/** Everything outside of the processes: table, queues, store, time, and those who watch. */
export interface World {
  scenario: Scenario
  scheduler: Scheduler
  random: SeededRandom
  trace: Trace
  network: Network
  tables: Tables
  queue: MemoryQueue
  deadLetters: MemoryQueue
  store: MemoryObjectStore
  coverage: Coverage
  sightings: Sightings
  /** null: the service asks none. */
  moderator: SimulatedModerator | null
  violations: Violation[]
  report: Report
  /** Which job each request was promised: by tenant, key and SHA-256. */
  promises: Map<string, string>
  /** What the clients send, by SHA-256. */
  images: Map<string, SimulatedImage>
  /** Whether faults may still happen. */
  faulty(): boolean
  /** How often each thing happened to each job, for runs in which it has to be once. */
  counts: { sent: number; received: number; claimed: number; swept: number }
  portsOf(process: SimulatedProcess): SimulatedPorts
  retryFailed(): void
  /** To be called when a process that was told to stop has ended. */
  checkDrained(process: SimulatedProcess): void
}

/** Changes a port as a mutant of the protocol would: by process, over what lies beneath. */
export type Mutation = (ports: SimulatedPorts, process: SimulatedProcess, world: World) => SimulatedPorts

/** Changes what the tables' methods do, inside of their transactions. */
export type TableMutation = (jobs: Jobs, tables: Tables, scenario: Scenario) => Jobs

export interface WorldOptions {
  plan: (world: Pick<World, 'random' | 'faulty'>) => FaultPlan
  kept: boolean
  /** Instead of the tables in memory: another implementation, which keeps `tables` as its own are. */
  openJobs?: (tables: Tables) => Jobs
  /** Instead of the tables' own methods. */
  mutateTables?: TableMutation
  mutate?: Mutation
}

const START_MS = Date.UTC(2026, 0, 1)

export function createWorld(scenario: Scenario, options: WorldOptions): World {
  const random = seededRandom(scenario.seed)
  const scheduler = createScheduler(random.fork('order'), START_MS)
  const { now } = scheduler
  const trace = createTrace(now, options.kept)
  const clock = createVirtualClock(scheduler)
  const violations: Violation[] = []
  const report: Report = (invariant, text) => {
    violations.push({ invariant, text })
    trace.note('INVARIANT', `${invariant} violated`, () => text)
  }
  const faulty = () => now() - START_MS < scenario.faultsUntilMs
  const counts = { sent: 0, received: 0, claimed: 0, swept: 0 }
  const tables = createTables(now, scenario.idsOutOfOrder ? shuffledIds(random.fork('ids')) : undefined)
  const store = createMemoryObjectStore(now)
  const coverage = createCoverage()
  const sightings = watchSightings(tables)
  const moderator = scenario.moderated ? createSimulatedModerator(report) : null
  const jobHistory = watchJobs(tables, scenario.budget, report)
  const outbox = watchOutbox(tables, report)
  const callbacks = watchCallbacks(tables, report)
  const fences = watchFences(report)
  const drains = watchDrains(report)

  function observer(name: 'jobs' | 'dead letters'): QueueObserver {
    return {
      sent(message) {
        counts.sent++
        const jobId = jobOf(message)
        if (jobId) outbox.sent(jobId)
      },
      received: (message) => {
        if (name === 'jobs') counts.received++
        sightings.received(message)
      },
      deleted(message) {
        checkDeletion(tables, name, message, report)
        sightings.deleted(message)
      },
      deadLettered: (message) => trace.note('broker', 'dead-letters', () => message.messageId),
    }
  }

  const { inFlightLimit, maxReceiveCount } = scenario.queue
  const rules = { visibilitySeconds: scenario.timing.visibilitySeconds, inFlightLimit }
  const mischief = queueMischief(scenario, random.fork('queue'), faulty)
  const deadLetters = createMemoryQueue({
    clock,
    mischief,
    rules: { ...rules, redrive: null, retentionMs: scenario.timing.deadLetterRetentionMs },
    observer: observer('dead letters'),
  })
  const queue = createMemoryQueue({
    clock,
    mischief,
    rules: {
      ...rules,
      redrive: { maxReceiveCount, to: deadLetters },
      retentionMs: scenario.timing.queueRetentionMs,
    },
    observer: observer('jobs'),
  })

  const plan = options.plan({ random, faulty })
  const drawn = random.fork('network')
  const network = createNetwork({
    scheduler,
    trace,
    random: drawn,
    plan: (site) => plan(site) ?? (isOut(scenario, site.step, now() - START_MS) ? 'unavailable' : null),
    onCall(process, step, fault) {
      coverage.note(process.actor, step, fault && applies(fault, step) ? fault : null)
      drains.called(process, step)
    },
    latencyMs: scenario.latencyMs,
    ownDeadlineMs: scenario.timing.callMs,
    freezeMs: () => drawn.int(scenario.freezeMs.least, scenario.freezeMs.most),
    lateMs: () => drawn.int(100, 3 * scenario.timing.leaseMs),
  })

  const base = options.openJobs?.(tables) ?? createMemoryJobs(tables)
  const jobs = options.mutateTables?.(base, tables, scenario) ?? base

  const afterTransaction = (step: Step) => {
    jobHistory.observe(step)
    outbox.observe(step)
    callbacks()
    checkObjects(tables, store, report)
  }

  const onEffect: EffectListener = (process, step, args, outcome) => {
    if (step.startsWith('jobs.')) {
      if (!(outcome.ok && (READS.has(step) || isEmpty(outcome.answer)))) afterTransaction(step)
      const jobId = (args[0] as { jobId?: string } | undefined)?.jobId
      if (jobId) fences.observe(step, args, outcome, jobHistory.before(jobId), tables.jobs.get(jobId))
      if (step === 'jobs.takeDeadLetter') {
        const letter = args[0] as { jobId: string | null; generation: number | null }
        checkDeadLetter(letter, jobHistory.before(jobId ?? ''), tables.jobs.get(jobId ?? ''), now(), report)
      }
      if (!outcome.ok) report('defect', `${step} failed: ${outcome.error}`)
      else if (step === 'jobs.claim' && (outcome.answer as { kind: string }).kind === 'claimed')
        counts.claimed++
      else if (SWEEPS.has(step)) counts.swept += (outcome.answer as string[]).length
    } else if (step === 'store.delete' || step === 'store.put') {
      checkObjects(tables, store, report)
    } else if (!outcome.ok && outcome.error instanceof RangeError) {
      report('defect', `${step} was misused: ${outcome.error.message}`)
    }
    if (step === 'queue.receive' && outcome.ok) drains.received(process, outcome.answer as ReceivedMessage[])
    sightings.effect(process, step, args, outcome)
  }

  /** How often an image took a renderer or a worker down, by its bytes. */
  const poisoned = new Map<string, number>()
  /** The generations of each job, forgotten ones included: each has a budget of its own. */
  const generations = new Map<string, { sha256: string; generation: number }>()
  const world: World = {
    ...{
      scenario,
      scheduler,
      random,
      trace,
      network,
      tables,
      queue,
      deadLetters,
      store,
      coverage,
      sightings,
      moderator,
    },
    ...{ violations, report, faulty, counts, images: new Map(), promises: new Map() },
    portsOf(process) {
      const renderer = createSimulatedRenderer(process, (_, __, sha256) => {
        const times = (poisoned.get(sha256) ?? 0) + 1
        poisoned.set(sha256, times)
        for (const { jobId, original, generation } of tables.jobs.values()) {
          generations.set(jobId, { sha256: original.sha256, generation })
        }
        const budgets = [...generations.values()]
          .filter((known) => known.sha256 === sha256)
          .reduce((sum, { generation }) => sum + generation, 0)
        if (times > scenario.budget * budgets) report('budget', `an image went wrong ${times} times`)
      })
      const ports = connect(
        network,
        process,
        { jobs, queues: { jobs: queue, deadLetters }, objectStore: store, renderer, moderator },
        onEffect,
      )
      return options.mutate?.(ports, process, world) ?? ports
    },
    checkDrained(process) {
      // Where faults reach it, a message may stay hidden that it meant to give back.
      if (scenario.promise === 'deploys') drains.ended(process, queue, tables)
    },
    retryFailed() {
      const retried = retryFailedJobs(tables, scenario.timing.deadlineMs)
      trace.note('operator', 'retries all failed jobs', () => retried.join(' '))
      afterTransaction(OPERATOR_RETRY)
    },
  }
  return world
}

/** What changes nothing needs no look. */
const READS = new Set<Step>(['jobs.find', 'jobs.ping', 'jobs.existing'])
const isEmpty = (answer: unknown) => Array.isArray(answer) && answer.length === 0

const SWEEPS = new Set<Step>(['jobs.republishLost', 'jobs.rescue', 'jobs.expire'])

function isOut({ outages }: Scenario, step: Step, atMs: number): boolean {
  return outages.some(({ port, fromMs, toMs }) => {
    const hit = step.startsWith(`${port}.`) || (port === 'queue' && step.startsWith('deadLetters.'))
    return hit && atMs >= fromMs && atMs < toMs
  })
}

function queueMischief({ queue }: Scenario, random: SeededRandom, faulty: () => boolean): Mischief {
  return {
    duplicates: () => faulty() && random.chance(queue.duplicateRate),
    returnsInMs: () => (faulty() && random.chance(queue.returnRate) ? random.int(0, 60_000) : null),
    next: (count) => (queue.reorders ? random.int(0, count - 1) : 0),
  }
}

/** Each id once, never far from its place, in no order: as of transactions that commit when they like. */
function shuffledIds(random: SeededRandom): () => number {
  const window: number[] = []
  let last = 0
  return () => {
    while (window.length < 4) window.push(++last)
    return window.splice(random.int(0, window.length - 1), 1)[0]!
  }
}
