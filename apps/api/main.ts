import { withDeadline } from '../../core/deadline.ts'
import { createInspector } from '../../core/image/inspector.ts'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { createOutboxNotifier } from '../../db/outbox-notifications.ts'
import { openObjectStore } from '../../infra/object-store.ts'
import { readPresets } from '../../infra/presets.ts'
import { runApp } from '../../infra/process.ts'
import { systemClock as clock } from '../../infra/system-clock.ts'
import { systemRandom as random } from '../../infra/system-random.ts'
import { createApp } from './app.ts'
import { createInFlight } from './in-flight.ts'
import { serve } from './server.ts'

/** How long an upload may go without a byte. */
const IDLE_MS = 30_000

await runApp({
  name: 'api',
  defaultPort: 8080,
  async start(config, log) {
    const { timing, limits, host, port } = config
    const presets = await readPresets(config.presetsFile)
    const db = openDatabase(config.databaseUrl, {
      max: 10,
      callMs: timing.callMs,
      application: 'img42-api',
    })
    const jobs = createPostgresJobs(db)
    const objectStore = await openObjectStore(config)
    const notifier = createOutboxNotifier(config.databaseUrl)
    const inFlight = createInFlight()
    let draining = false

    const app = createApp({
      ...{ jobs, objectStore, clock, random, createInspector, limits, presets, timing, log, inFlight },
      idleMs: IDLE_MS,
      onAccepted: notifier.notify,
      draining: () => draining,
    })
    // Above every wait that an upload or a download has a limit of its own for.
    const server = await serve(app, { host, port, silenceMs: 2 * Math.max(IDLE_MS, timing.storeCallMs) })
    return {
      port: server.port,
      async stop() {
        draining = true
        await server.drain(timing.drainMs)
        await withDeadline(clock, timing.callMs, undefined, () => inFlight.settled()).catch(() => {})
        await notifier.close()
        await db.destroy()
      },
    }
  },
})
