import { isTerminal, type JobErrorCode } from '../../core/job.ts'
import { cancelled } from '../../core/job-ends.ts'
import { type Client, startClient } from './client.ts'
import type { Coverage } from './coverage.ts'
import { applies, type Fault, type FaultPlan, type Placement, randomFaults } from './faults.ts'
import { startFleet } from './fleet.ts'
import type { Violation } from './invariants/violation.ts'
import type { JobRow } from './memory/tables.ts'
import type { Scenario } from './scenario.ts'
import type { Sightings } from './sightings.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

export interface RunOptions extends Partial<Pick<WorldOptions, 'mutate' | 'mutateTables' | 'openJobs'>> {
  /** Faults at given calls, instead of those that the scenario draws. */
  plan?: FaultPlan
  /** Whether the trace's lines are kept. */
  kept?: boolean
}

export interface RunResult {
  /** The first violation ends the run. */
  violations: readonly Violation[]
  /** Two runs of one seed have the same. */
  hash: string
  trace: readonly string[]
  /** Calls of ports, all processes together. */
  calls: number
  steps: number
  virtualMs: number
  /** Which call met which fault, outages aside: enough to place the same faults again. */
  placement: Placement
  coverage: Coverage
  sightings: Sightings['counts']
}

/** How long after the last fault everything may take to come right. */
const RECOVERY_MS = 4 * 3_600_000

/** Runs a scenario until every promise is kept, or one is broken. */
export async function simulate(scenario: Scenario, options: RunOptions = {}): Promise<RunResult> {
  const { plan, kept = false, mutate, mutateTables, openJobs } = options
  const placement: [call: number, fault: Fault][] = []
  const world = createWorld(scenario, {
    plan({ random, faulty }) {
      const chosen = plan ?? randomFaults(random.fork('faults'), scenario.faultRates, faulty)
      return (site) => {
        const fault = chosen(site)
        if (fault && applies(fault, site.step)) placement.push([site.index, fault])
        return fault
      }
    },
    kept,
    ...(mutate && { mutate }),
    ...(openJobs && { openJobs }),
    ...(mutateTables && { mutateTables }),
  })
  const { scheduler } = world
  const startedAt = scheduler.now()
  const fleet = startFleet(world)
  const clients = scenario.uploads.map((upload, i) => startClient(world, fleet, upload, `client-${i + 1}`))
  for (const event of scenario.events) {
    scheduler.schedule(event.atMs, () => {
      if (event.kind === 'deploy') fleet.deploy(event.worker)
      if (event.kind === 'retry') world.retryFailed()
      if (event.kind === 'garbage') {
        const garbage = { body: '{"schema_version":99}', attributes: {} }
        void world.queue.send([garbage], new AbortController().signal)
      }
      if (event.kind === 'purge') {
        world.trace.note('broker', 'loses its messages')
        world.queue.purge()
      }
      if (event.kind === 'delete') deleteImage(world, fleet, clients[event.upload])
      if (event.kind === 'cancel') cancelJob(world, fleet, clients[event.upload])
    })
  }

  // Errors are made by the thousand here and their stacks read by nobody: making them takes a tenth of the time.
  const { stackTraceLimit } = Error
  if (!kept) Error.stackTraceLimit = 0
  const lastEventMs = Math.max(0, scenario.faultsUntilMs, ...scenario.events.map(({ atMs }) => atMs))
  const goesRound = watchForHotLoop(world)
  const done = () =>
    world.violations.length > 0 ||
    goesRound() ||
    (scheduler.now() - startedAt >= lastEventMs && isQuiet(world, clients))
  await scheduler.run(startedAt + lastEventMs + RECOVERY_MS, done)
  Error.stackTraceLimit = stackTraceLimit
  if (world.violations.length === 0) checkEnd(world, clients)
  return {
    violations: world.violations,
    hash: world.trace.hash(),
    trace: world.trace.lines(),
    calls: world.network.calls(),
    steps: scheduler.steps(),
    virtualMs: scheduler.now() - startedAt,
    placement,
    coverage: world.coverage,
    sightings: world.sightings.counts,
  }
}

/** Far more events than any story has in so short a time: somebody goes round without a pause. */
const MAX_STEPS = 3_000
const WITHIN_MS = 20_000

/** To be asked after each event. */
function watchForHotLoop({ scheduler, report, coverage }: World): () => boolean {
  let since = scheduler.now()
  let stepsThen = 0
  return () => {
    if (scheduler.now() - since > WITHIN_MS) {
      since = scheduler.now()
      stepsThen = scheduler.steps()
    }
    if (scheduler.steps() - stepsThen < MAX_STEPS) return false
    const busiest = coverage.rows().sort((a, b) => b.calls - a.calls)[0]
    report(
      'defect',
      `a loop without a pause: ${busiest?.calls} calls of ${busiest?.step} by the ${busiest?.actor}`,
    )
    return true
  }
}

function deleteImage(world: World, fleet: ReturnType<typeof startFleet>, client: Client | undefined): void {
  const connection = fleet.api()
  const jobId = client?.jobId()
  if (!connection || !jobId) return
  connection.process.deliver(() => {
    world
      .portsOf(connection.process)
      .jobs.bury(jobId)
      .catch(() => {})
  })
}

function cancelJob(world: World, fleet: ReturnType<typeof startFleet>, client: Client | undefined): void {
  const connection = fleet.api()
  const jobId = client?.jobId()
  if (!connection || !jobId) return
  const generation = world.tables.jobs.get(jobId)?.generation
  connection.process.deliver(() => {
    world
      .portsOf(connection.process)
      .jobs.end({ jobId, by: { kind: 'owner' }, ...cancelled() })
      .then((ended) => checkCancelled(world, jobId, generation, ended))
      .catch(() => {})
  })
}

/** Whoever is told that a job is cancelled, or that it is too late for that, never hears otherwise. */
function checkCancelled(
  { tables, report }: World,
  jobId: string,
  generation: number | undefined,
  ended: boolean,
): void {
  const job = tables.jobs.get(jobId)
  // Forgotten, or begun anew by an operator.
  if (!job || job.generation !== generation) return
  const told = `${jobId} is ${job.status} (${job.error?.code ?? 'no error'})`
  if (ended && job.error?.code !== 'cancelled') report('one_completion', `cancelled, ${told}`)
  if (!ended && !isTerminal(job.status)) report('one_completion', `too late to be cancelled, ${told}`)
}

/** Nothing is left to do for anybody. */
function isQuiet(
  { scenario, tables, queue, deadLetters, store }: World,
  clients: readonly Client[],
): boolean {
  if (!clients.every((client) => client.settled())) return false
  for (const job of tables.jobs.values()) if (!isTerminal(job.status)) return false
  if (tables.outbox.size > 0 || queue.messages().length > 0 || deadLetters.messages().length > 0) return false
  return !scenario.untilForgotten || (tables.jobs.size === 0 && store.keys().every((key) => key === 'probe'))
}

function checkEnd(world: World, clients: readonly Client[]): void {
  const { scenario, tables, queue, deadLetters, counts, report } = world
  for (const { jobId, status, attempts } of tables.jobs.values()) {
    if (!isTerminal(status)) report('becomes_terminal', `${jobId} is ${status} after ${attempts} attempts`)
  }
  if (world.violations.length > 0) return
  if (!isQuiet(world, clients)) {
    const left = `${tables.outbox.size} outbox rows, ${queue.messages().length} messages, ${deadLetters.messages().length} dead letters`
    report('becomes_terminal', `left behind for ever: ${left}, ${tables.jobs.size} jobs`)
  }
  for (const job of tables.jobs.values()) {
    checkEnding(world, job)
    world.moderator?.check(job)
  }
  const accepted = tables.jobs.size
  const once = counts.sent === accepted && counts.received === accepted && counts.claimed === accepted
  if (scenario.promise === 'calm' && (!once || counts.swept > 0)) {
    report('calm', `${accepted} jobs: ${JSON.stringify(counts)}`)
  }
}

/** Whether a job that nothing was wrong with may have ended as it did. */
function checkEnding({ scenario, images, report }: World, job: JobRow): void {
  const { jobId, status, error, attempts } = job
  if (
    images.get(job.original.sha256)?.kind !== 'good' ||
    error?.code === 'deleted' ||
    error?.code === 'cancelled'
  )
    return
  const told = `${jobId} is ${status} (${error?.code ?? 'no error'}) after ${attempts} attempts`
  if (status === 'FAILED' && NEVER.has(error!.code)) report('accepted_is_durable', told)
  if (scenario.promise !== 'none' && status === 'FAILED' && error?.code !== 'publish_refused')
    report('outage', told)
  if (scenario.promise === 'deploys' && attempts !== 1) report('drain', told)
  if (scenario.promise === 'outages' && attempts > mostAttempts(scenario)) report('outage', told)
}

/**
 * How many attempts a good image may be charged where nothing but dependencies fails: the one that did it. Only where the
 * database was away for longer than a lease, a worker that is still there to give its attempt back may come second, after
 * a redelivery or the sweep, because nobody can tell it from a dead one: once an outage.
 */
function mostAttempts({ outages, faultRates, workers, sweepers }: Scenario): number {
  if (workers === 1 && sweepers === 0) return 1
  // Single calls that fail are outages too, and nobody counts those.
  if (Object.keys(faultRates).length > 0) return Number.POSITIVE_INFINITY
  return 1 + outages.filter(({ port }) => port === 'jobs').length
}

/** What no fault of the world around may make of a good image. */
const NEVER = new Set<JobErrorCode>(['original_missing', 'corrupt', 'truncated', 'internal'])
