import { hostname } from 'node:os'
import { announceTransitions } from '../../core/announced-jobs.ts'
import { withDeadline } from '../../core/deadline.ts'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { createNotifier } from '../../db/notifications.ts'
import { POOLS } from '../../infra/connections.ts'
import { requireFittingSchema } from '../../infra/fitting-schema.ts'
import { serveHealth } from '../../infra/health.ts'
import { createHttpModerator } from '../../infra/http-moderator.ts'
import { observeAttempts } from '../../infra/metrics/attempts.ts'
import { createCallObserver } from '../../infra/metrics/calls.ts'
import { observeDeliveries, observeSlots } from '../../infra/metrics/deliveries.ts'
import { observePools } from '../../infra/metrics/pool.ts'
import { countRendererEnds, observeRenderer } from '../../infra/metrics/renderer.ts'
import { openObjectStore } from '../../infra/object-store.ts'
import { runApp } from '../../infra/process.ts'
import { openQueues } from '../../infra/queues.ts'
import { systemClock as clock } from '../../infra/system-clock.ts'
import { systemRandom as random } from '../../infra/system-random.ts'
import { traceJobs } from '../../infra/tracing/traced-jobs.ts'
import { tracePort } from '../../infra/tracing/traced-port.ts'
import { traceQueue } from '../../infra/tracing/traced-queue.ts'
import { startConsumer } from './consumer.ts'
import { createGate } from './gate.ts'
import { createProbe } from './probe.ts'
import { openRenderer } from './renderer/pool.ts'
import type { ProcessEnd } from './renderer/render-process.ts'
import { assertArenas } from './renderer/sandbox/arenas.ts'
import { gapsOf } from './renderer/sandbox/confinement.ts'

await runApp({
  name: 'worker',
  defaultPort: 8081,
  async start(config, log, registry) {
    const { timing, budget, concurrency, limits, host, port } = config
    const db = openDatabase(config.databaseUrl, {
      max: POOLS.worker(concurrency),
      callMs: timing.callMs,
      application: 'img42-worker',
    })
    await requireFittingSchema(db, log)
    const transitions = createNotifier(config.databaseUrl, 'img42_transitions')
    const observed = createCallObserver(registry)
    observePools(registry, { worker: db })
    const jobs = announceTransitions(
      observeAttempts(registry, observed('jobs', traceJobs(createPostgresJobs(db))), clock),
      transitions.notify,
    )
    const queue = observeDeliveries(
      registry,
      observed('queue', traceQueue((await openQueues(config, db)).jobs)),
    )
    const objectStore = observed('object_store', tracePort('object_store', await openObjectStore(config)))
    const countEnd = countRendererEnds(registry)
    const renderer = await openRenderer({
      ...{ concurrency, limits },
      onProcessEnd(end) {
        countEnd(end)
        // Worn out, closed or abandoned with its attempt: as intended. The rest is an image's doing, or a defect.
        const intended =
          end.killedFor === 'worn' || end.killedFor === 'closed' || end.killedFor === 'abandoned'
        log[intended ? 'info' : 'warn'](asLogged(end), 'rendering process ended')
      },
      onReplaced(end, afterMs) {
        log.info({ ...asLogged(end), replaced_after_ms: afterMs }, 'rendering process replaced')
      },
    })
    observeRenderer(registry, renderer)
    assertArenas(renderer.confinement.mallocArenas)
    const gaps = gapsOf(renderer.confinement)
    log[gaps.length > 0 ? 'warn' : 'info'](
      { confinement: renderer.confinement, not_confined: gaps },
      gaps.length > 0 ? 'rendering processes are not confined in full' : 'rendering processes are confined',
    )
    const moderator =
      config.moderation &&
      observed('moderator', tracePort('moderator', createHttpModerator(config.moderation.url)))
    const moderation = moderator && { moderator, timeoutMs: config.moderation!.timeoutMs }
    const probe = createProbe({ jobs, queue, objectStore, moderator, clock, timing })
    const owner = `${hostname()}/${process.pid}/${Buffer.from(random.bytes(6)).toString('hex')}`

    let lastTurn = clock.now()
    const turned = () => {
      lastTurn = clock.now()
    }
    // While the gate is shut nothing is received, and probing is the work.
    const gate = createGate({
      probe: (dependency) => probe(dependency).finally(turned),
      ...{ clock, random, timing, log },
    })
    const consumer = startConsumer({
      renderer: tracePort('renderer', { engine: renderer.engine, render: renderer.render }),
      ...{ jobs, queue, objectStore, clock, random, timing, budget, gate, log, owner, concurrency },
      ...{ moderation, exposeGps: config.exposeGps },
      onTurn: turned,
    })

    observeSlots(registry, concurrency, () => consumer.busy)

    const health = await serveHealth(host, port, {
      alive: () => clock.now() - lastTurn < timing.attemptMs + timing.pollSeconds * 1_000 + timing.callMs,
      ready: () => withDeadline(clock, timing.callMs, undefined, () => probe('database')),
    })
    return {
      port: health.port,
      async stop() {
        consumer.drain()
        await consumer.ended
        health.close()
        await renderer.close()
        await transitions.close()
        await db.destroy()
      },
    }
  },
})

function asLogged({
  killedFor,
  wasReady,
  exitCode,
  outOfMemory,
  goneAfterMs,
  pid,
  signal,
  stderr,
}: ProcessEnd) {
  return {
    ...{ pid, killed_for: killedFor, gone_after_ms: goneAfterMs, was_ready: wasReady },
    ...{ exit_code: exitCode, signal, out_of_memory: outOfMemory, stderr },
  }
}
