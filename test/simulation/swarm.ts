import { DEFAULT_TIMING, type Timing } from '../../core/timing.ts'
import { FAULT_NAMES, type Fault } from './faults.ts'
import { oneJob, type PlannedEvent, type PlannedUpload, type Scenario } from './scenario.ts'
import { type SeededRandom, seededRandom } from './seeded-random.ts'
import type { ImageKind } from './simulated-image.ts'

const MINUTE = 60_000

/**
 * The scenario of a seed. Each draws its own few faults out of all, with its own rates and its own world: a seed with
 * everything at once explores less, because each fault hides what another would have shown (swarm testing, Groce and
 * others, ISSTA 2012).
 */
export function scenarioOfSeed(seed: string): Scenario {
  const scenario = withoutModerator(seed)
  // Drawn apart from all else: a seed without a moderator is the scenario that it was before there were any.
  const random = seededRandom(`${seed}/moderator`)
  if (!random.chance(0.25)) return scenario
  const fromMs = random.int(0, scenario.faultsUntilMs / 2)
  const out = { port: 'moderator' as const, fromMs, toMs: random.int(fromMs, scenario.faultsUntilMs) }
  return {
    ...scenario,
    moderated: true,
    outages: [...scenario.outages, ...(random.chance(0.5) ? [out] : [])],
  }
}

function withoutModerator(seed: string): Scenario {
  const random = seededRandom(`${seed}/scenario`)
  const kind = weighted(random, KINDS)
  // Healers hide bugs: in half of all seeds nobody sweeps and no client asks again.
  const healed = kind === 'forgotten' || kind === 'letters' || random.chance(0.43)
  const base = oneJob(seed, {
    timing: timing(random, kind),
    budget: random.int(1, 5),
    concurrency: random.int(1, 3),
    workers: random.int(1, 3),
    relays: random.int(1, 2),
    sweepers: healed ? random.int(1, 2) : 0,
    uploads: uploads(random, ['chaos', 'letters', 'forgotten'].includes(kind)),
    clientRetries: healed,
    latencyMs: random.pick([
      { least: 1, most: 5 },
      { least: 1, most: 50 },
      { least: 5, most: 800 },
    ]),
    idsOutOfOrder: random.chance(0.5),
    queue: { ...QUIET_QUEUE, reorders: random.chance(0.7) },
  })
  switch (kind) {
    case 'calm':
      return {
        ...base,
        promise: 'calm',
        budget: 5,
        uploads: allGood(base.uploads),
        latencyMs: { least: 1, most: 50 },
      }
    case 'backlog':
      // Jobs that wait for longer than the re-publish age, in a queue that only moves slowly.
      return {
        ...base,
        promise: 'calm',
        budget: 5,
        workers: 1,
        concurrency: 1,
        sweepers: 1,
        latencyMs: { least: 1, most: 50 },
        uploads: Array.from({ length: 14 }, (_, i) => ({
          atMs: i * 20,
          tenant: `tenant-${i % 2}`,
          key: null,
          image: { kind: 'good' as const, renderMs: 45_000, salt: String(i) },
          breaksOff: false,
        })),
      }
    case 'deploys':
      return {
        ...base,
        promise: 'deploys',
        budget: random.int(1, 5),
        uploads: allGood(base.uploads),
        latencyMs: { least: 1, most: 50 },
        events: deploys(random, base.workers, random.int(1, 6)),
      }
    case 'outages':
      return outages(random, base)
    case 'letters':
      return letters(random, chaos(random, base, healed, false))
    default:
      return chaos(random, base, healed, kind === 'forgotten')
  }
}

type Kind = 'letters' | 'chaos' | 'calm' | 'backlog' | 'deploys' | 'outages' | 'forgotten'
const KINDS: readonly [Kind, number][] = [
  ['chaos', 70],
  ['letters', 6],
  ['calm', 4],
  ['backlog', 1],
  ['deploys', 7],
  ['outages', 8],
  ['forgotten', 3],
]

const QUIET_QUEUE = {
  maxReceiveCount: 1_000,
  inFlightLimit: 1_000,
  duplicateRate: 0,
  returnRate: 0,
  reorders: false,
}

function chaos(random: SeededRandom, base: Scenario, healed: boolean, forgotten: boolean): Scenario {
  const faultsUntilMs = forgotten ? random.int(5, 50) * MINUTE : random.int(30, 250) * 1_000
  const events: PlannedEvent[] = random.chance(0.2) ? deploys(random, base.workers, random.int(1, 3)) : []
  const cancels = random.fork('cancels')
  if (healed && random.chance(0.2)) events.push({ kind: 'purge', atMs: random.int(0, faultsUntilMs) })
  for (let upload = 0; upload < base.uploads.length; upload++) {
    if (random.chance(0.08)) events.push({ kind: 'delete', atMs: random.int(0, 120_000), upload })
    if (cancels.chance(0.08)) events.push({ kind: 'cancel', atMs: cancels.int(0, 60_000), upload })
  }
  if (healed && random.chance(0.2)) events.push({ kind: 'garbage', atMs: random.int(0, faultsUntilMs) })
  const retries = random.chance(0.2) ? random.int(1, 4) : 0
  for (let i = 0; i < retries; i++)
    events.push({ kind: 'retry', atMs: random.int(10_000, faultsUntilMs + 60_000) })
  return {
    ...base,
    faultsUntilMs,
    faultRates: faultRates(random, forgotten ? 0.3 : 1),
    outages: random.chance(forgotten ? 0.5 : 0.15) ? [outage(random, faultsUntilMs)] : [],
    restartMs: random.pick([
      { least: 100, most: 1_000 },
      { least: 1_000, most: 100_000 },
    ]),
    freezeMs: random.pick([
      { least: 100, most: 20_000 },
      { least: 20_000, most: 200_000 },
    ]),
    skewMs: skews(random, forgotten ? 2 * MINUTE : 60 * MINUTE),
    queue: {
      // Without a sweep nobody would take a dead letter in.
      maxReceiveCount: healed ? random.pick([1, 2, 5, 50]) : 1_000,
      inFlightLimit: random.pick([1, 3, 1_000]),
      duplicateRate: random.pick([0, 0, 0.1, 0.5]),
      returnRate: random.pick([0, 0, 0.1, 0.5]),
      reorders: random.chance(0.7),
    },
    events,
    untilForgotten: forgotten,
  }
}

/** Jobs that fail and are retried, in a queue that gives up on messages at once. */
function letters(random: SeededRandom, base: Scenario): Scenario {
  return {
    ...base,
    budget: random.int(1, 2),
    timing: { ...base.timing, sweepMs: 10_000 },
    uploads: base.uploads.map((upload) => ({
      ...upload,
      image: { ...upload.image, kind: random.pick(['crashing', 'corrupt', 'flaky']), renderMs: 2_000 },
    })),
    queue: { ...base.queue, maxReceiveCount: random.int(1, 2), duplicateRate: 0.5, returnRate: 0.5 },
    events: [
      ...Array.from({ length: 8 }, () => ({ kind: 'retry' as const, atMs: random.int(5_000, 200_000) })),
      ...Array.from({ length: 4 }, () => ({ kind: 'garbage' as const, atMs: random.int(5_000, 200_000) })),
    ],
  }
}

function outages(random: SeededRandom, base: Scenario): Scenario {
  const faultsUntilMs = random.int(5, 60) * MINUTE
  // One worker and nobody who sweeps: then nobody meets a job before its own worker has given it back.
  const alone = random.chance(0.5)
  return {
    ...base,
    ...(alone && { workers: 1, sweepers: 0 }),
    promise: 'outages',
    budget: random.int(2, 5),
    uploads: allGood(base.uploads),
    faultsUntilMs,
    outages: [outage(random, faultsUntilMs)],
    faultRates: random.chance(0.5) ? { unavailable: 0.01, hang_undone: 0.003, refused_entry: 0.01 } : {},
  }
}

function outage(random: SeededRandom, untilMs: number): Scenario['outages'][number] {
  const fromMs = random.int(0, untilMs / 2)
  return { port: random.pick(['jobs', 'queue', 'store'] as const), fromMs, toMs: random.int(fromMs, untilMs) }
}

function faultRates(random: SeededRandom, factor: number): Partial<Record<Fault, number>> {
  const rates: Partial<Record<Fault, number>> = {}
  const rate = factor * random.pick([0.003, 0.01, 0.03, 0.1])
  for (const fault of FAULT_NAMES) {
    if (random.chance(0.4)) rates[fault] = rate * random.pick([0.3, 1, 2])
  }
  return rates
}

function deploys(random: SeededRandom, workers: number, times: number): PlannedEvent[] {
  return Array.from({ length: times }, () => ({
    kind: 'deploy' as const,
    atMs: random.int(0, 200_000),
    worker: random.int(0, workers - 1),
  }))
}

function uploads(random: SeededRandom, anyKind: boolean): PlannedUpload[] {
  const count = random.pick([1, 1, 2, 3, 5])
  const until = random.pick([1_000, 60_000])
  const planned = Array.from({ length: count }, (_, i): PlannedUpload => {
    const kind = anyKind ? weighted(random, IMAGES) : 'good'
    return {
      atMs: random.int(0, until),
      tenant: `tenant-${random.int(1, 2)}`,
      key: random.chance(0.75) ? `key-${i}` : null,
      image: { kind, renderMs: random.pick([50, 2_000, 45_000]), salt: String(i) },
      breaksOff: anyKind && random.chance(0.05),
    }
  })
  if (!anyKind) return planned
  // The same request twice, and the same key with another payload.
  const [first] = planned
  if (first?.key && random.chance(0.3)) {
    const again = { ...first, breaksOff: false, atMs: random.int(0, until) }
    planned.push(again)
    if (random.chance(0.5)) planned.push({ ...again, image: { ...first.image, salt: 'other' } })
    if (random.chance(0.5)) planned.push({ ...again, tenant: 'tenant-3' })
  }
  return planned
}

function allGood(planned: readonly PlannedUpload[]): PlannedUpload[] {
  return planned.map((upload) => ({ ...upload, breaksOff: false, image: { ...upload.image, kind: 'good' } }))
}

const IMAGES: readonly [ImageKind, number][] = [
  ['good', 70],
  ['corrupt', 6],
  ['crashing', 7],
  ['killing', 6],
  ['hanging', 4],
  ['flaky', 7],
]

/** No two clocks agree; now and then one is far off. */
function skews(random: SeededRandom, mostMs: number): Record<string, number> {
  if (random.chance(0.5)) return {}
  const far = random.chance(0.5) ? mostMs : 2_000
  const names = ['api', 'relay-1', 'relay-2', 'worker-1', 'worker-2', 'worker-3', 'sweeper-1', 'sweeper-2']
  return Object.fromEntries(names.map((name) => [name, random.int(-far, far)]))
}

function timing(random: SeededRandom, kind: Kind): Timing {
  const base = {
    ...DEFAULT_TIMING,
    // Rare enough that most calls are of a job's way and not of polls that find nothing.
    relayPollMs: random.pick([20_000, MINUTE]),
    sweepMs: random.pick([20_000, 90_000]),
    attemptMs: random.pick([2 * MINUTE, 10 * MINUTE]),
  }
  if (kind !== 'forgotten') return base
  // Short lives, so that jobs are seen to their very end.
  return {
    ...base,
    relayPollMs: MINUTE,
    sweepMs: MINUTE,
    attemptMs: 2 * MINUTE,
    backoffCapMs: MINUTE,
    deadlineMs: 6 * MINUTE,
    queueRetentionMs: 8 * MINUTE,
    deadLetterRetentionMs: 10 * MINUTE,
    resultRetentionMs: 10 * MINUTE,
    tombstoneRetentionMs: 10 * MINUTE,
    uploadMs: 3 * MINUTE,
    orphanAgeMs: 20 * MINUTE,
  }
}

function weighted<T>(random: SeededRandom, choices: readonly [T, number][]): T {
  let at = random.uniform() * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [choice, weight] of choices) {
    at -= weight
    if (at < 0) return choice
  }
  return choices[0]![0]
}
