import { acceptUpload } from '../../apps/api/accept-upload.ts'
import type { Upload, UploadOutcome } from '../../apps/api/upload.ts'
import { sweepDeadLetters } from '../../apps/reconciler/dead-letters.ts'
import { watchForEmptyQueue } from '../../apps/reconciler/empty-queue.ts'
import { RELAY_ROWS, relayTurn } from '../../apps/reconciler/relay.ts'
import { createOrphanSweep, sweepRetention } from '../../apps/reconciler/retention.ts'
import { createJobSweep } from '../../apps/reconciler/sweeps.ts'
import { startConsumer } from '../../apps/worker/consumer.ts'
import { createGate } from '../../apps/worker/gate.ts'
import { createProbe } from '../../apps/worker/probe.ts'
import { createInspector } from '../../core/image/inspector.ts'
import { type RunningLoop, startLoop } from '../../core/loop.ts'
import type { Timing } from '../../core/timing.ts'
import type { Log } from '../../infra/log.ts'
import type { SimulatedPorts } from './simulated-ports.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** The service's own code, put together over simulated ports the way each app's `main.ts` does it over real ones. */
export interface ServiceParts {
  process: SimulatedProcess
  ports: SimulatedPorts
  log: Log
  timing: Timing
  budget: number
  concurrency: number
}

export interface Api {
  upload(upload: Upload, signal: AbortSignal): Promise<UploadOutcome>
}

export function startApi(parts: ServiceParts, onAccepted: () => void): Api {
  const { ports, timing } = parts
  const { clock, random } = parts.process
  const { jobs, objectStore } = ports
  const limits = { maxBytes: 1_000_000, maxPixels: 1_000_000, maxFrames: 10, maxAnimatedPixels: 1_000_000 }
  return {
    upload: (upload, signal) =>
      acceptUpload(
        { jobs, objectStore, clock, random, createInspector, onAccepted },
        { limits, timing, idleMs: 30_000 },
        upload,
        signal,
      ),
  }
}

export interface Stoppable {
  /** Asks it to stop. */
  stop(): void
  ended: Promise<unknown>
}

export function startWorker({ process, ports, log, timing, budget, concurrency }: ServiceParts): Stoppable {
  const { clock, random } = process
  const { jobs, objectStore, renderer, moderator } = ports
  const queue = ports.queues.jobs
  const probe = createProbe({ jobs, queue, objectStore, moderator, clock, timing })
  const gate = createGate({ probe, clock, random, timing, log })
  const consumer = startConsumer({
    ...{ jobs, queue, objectStore, renderer, clock, random, timing, budget, gate, log, concurrency },
    ...{ moderation: moderator && { moderator, timeoutMs: timing.callMs }, exposeGps: false },
    owner: process.name,
    onTurn: () => {},
  })
  return { stop: consumer.drain, ended: consumer.ended }
}

export function startRelay(parts: ServiceParts): RunningLoop & Stoppable {
  const { process, ports, log, timing } = parts
  const { clock, random } = process
  const [relay] = loops(parts, [
    timing.relayPollMs,
    async () => {
      const rows = await relayTurn({ jobs: ports.jobs, queue: ports.queues.jobs, clock, random, timing, log })
      return rows === RELAY_ROWS
    },
  ])
  return relay!
}

export function startSweeper(parts: ServiceParts): Stoppable {
  const { process, ports, log, timing, budget } = parts
  const { clock } = process
  const { jobs, objectStore } = ports
  const queueIsEmpty = watchForEmptyQueue(ports.queues.jobs, clock, timing)
  const sweepJobs = createJobSweep({ jobs, clock, timing, budget, queueIsEmpty, log })
  const all = loops(
    parts,
    [timing.sweepMs, () => sweepJobs().then(() => false)],
    [
      timing.sweepMs,
      async () => {
        const letters = { jobs, deadLetters: ports.queues.deadLetters, clock, timing, budget, log }
        return (await sweepDeadLetters(letters)) > 0
      },
    ],
    [timing.sweepMs, () => sweepRetention({ jobs, objectStore, clock, timing }).then(() => false)],
    [timing.orphanAgeMs / 24, createOrphanSweep({ jobs, objectStore, clock, timing })],
  )
  return {
    stop: () => {
      for (const loop of all) loop.stop()
    },
    ended: Promise.all(all.map(({ ended }) => ended)),
  }
}

function loops(
  { process, log }: ServiceParts,
  ...turns: [everyMs: number, turn: () => Promise<boolean>][]
): (RunningLoop & Stoppable)[] {
  const stop = new AbortController()
  return turns.map(([everyMs, turn]) => ({
    ...startLoop(process.clock, stop.signal, {
      turn,
      everyMs,
      onError: (err) => log.warn({ err }, 'turn failed'),
      onTurn: () => {},
    }),
    stop: () => stop.abort(),
  }))
}
