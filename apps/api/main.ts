import { announceTransitions } from '../../core/announced-jobs.ts'
import { withDeadline } from '../../core/deadline.ts'
import { createInspector } from '../../core/image/inspector.ts'
import { createPostgresCallbacks } from '../../db/callbacks.ts'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { createNotifier, listen } from '../../db/notifications.ts'
import { createPostgresTenants } from '../../db/tenants.ts'
import { authMode } from '../../infra/config.ts'
import { POOLS } from '../../infra/connections.ts'
import { requireFittingSchema } from '../../infra/fitting-schema.ts'
import { createCallObserver } from '../../infra/metrics/calls.ts'
import { observePools } from '../../infra/metrics/pool.ts'
import { openObjectStore } from '../../infra/object-store.ts'
import { readPresets } from '../../infra/presets.ts'
import { runApp } from '../../infra/process.ts'
import { systemClock as clock } from '../../infra/system-clock.ts'
import { systemRandom as random } from '../../infra/system-random.ts'
import { traceJobs } from '../../infra/tracing/traced-jobs.ts'
import { tracePort } from '../../infra/tracing/traced-port.ts'
import { createApp } from './app.ts'
import { createInFlight } from './in-flight.ts'
import { createJobWatch } from './job-watch.ts'
import { observeRequests } from './observed-requests.ts'
import { createPace } from './queue-pace.ts'
import { serve } from './server.ts'
import { traceRequests } from './traced-requests.ts'

/** How long an upload may go without a byte. */
const IDLE_MS = 30_000

await runApp({
  name: 'api',
  defaultPort: 8080,
  async start(config, log, registry) {
    const { timing, limits, host, port } = config
    const asksForKeys = authMode(config) === 'keys'
    const presets = await readPresets(config.presetsFile)
    const db = openDatabase(config.databaseUrl, {
      max: POOLS.api(),
      callMs: timing.callMs,
      application: 'img42-api',
    })
    await requireFittingSchema(db, log)
    const transitions = createNotifier(config.databaseUrl, 'img42_transitions')
    const observed = createCallObserver(registry)
    observePools(registry, { api: db })
    const jobs = announceTransitions(observed('jobs', traceJobs(createPostgresJobs(db))), transitions.notify)
    const objectStore = observed('object_store', tracePort('object_store', await openObjectStore(config)))
    const outbox = createNotifier(config.databaseUrl, 'img42_outbox')
    const watch = createJobWatch({ jobs, clock, log })
    const wakeUps = listen(config.databaseUrl, 'img42_transitions', watch.wake)
    const inFlight = createInFlight()
    let draining = false

    const app = createApp({
      ...{ jobs, objectStore, clock, random, createInspector, limits, presets, timing, log, inFlight },
      idleMs: IDLE_MS,
      callbacks: createPostgresCallbacks(db),
      onAccepted: () => outbox.notify(),
      draining: () => draining,
      watch,
      pace: createPace({ jobs, clock }),
      idempotencyRequired: config.idempotencyRequired,
      callbackAllow: config.callbackAllow,
      tenants: asksForKeys ? createPostgresTenants(db) : null,
      corsOrigins: config.corsOrigins,
    })
    // Above every wait that an upload or a download has a limit of its own for.
    const server = await serve(observeRequests(registry, traceRequests(app)), {
      host,
      port,
      silenceMs: 2 * Math.max(IDLE_MS, timing.storeCallMs),
    })
    return {
      port: server.port,
      async stop() {
        draining = true
        watch.close()
        await wakeUps.close()
        await server.drain(timing.drainMs)
        await withDeadline(clock, timing.callMs, undefined, () => inFlight.settled()).catch(() => {})
        await Promise.all([outbox.close(), transitions.close()])
        await db.destroy()
      },
    }
  },
})
