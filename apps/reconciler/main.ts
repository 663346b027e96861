import { announceTransitions } from '../../core/announced-jobs.ts'
import { startLoop } from '../../core/loop.ts'
import { createPostgresCallbacks } from '../../db/callbacks.ts'
import { openDatabase } from '../../db/connect.ts'
import { createPostgresJobs } from '../../db/jobs/postgres-jobs.ts'
import { createNotifier, listen } from '../../db/notifications.ts'
import { readState } from '../../db/state.ts'
import { createSendCallback } from '../../infra/callbacks/send.ts'
import { POOLS } from '../../infra/connections.ts'
import { requireFittingSchema } from '../../infra/fitting-schema.ts'
import { serveHealth } from '../../infra/health.ts'
import { createCallObserver } from '../../infra/metrics/calls.ts'
import { observePools } from '../../infra/metrics/pool.ts'
import { observePublications } from '../../infra/metrics/publications.ts'
import { observeCallbacks, observeRepairs } from '../../infra/metrics/repairs.ts'
import { observeState } from '../../infra/metrics/state.ts'
import { openObjectStore } from '../../infra/object-store.ts'
import { runApp } from '../../infra/process.ts'
import { openQueues } from '../../infra/queues.ts'
import { systemClock as clock } from '../../infra/system-clock.ts'
import { systemRandom as random } from '../../infra/system-random.ts'
import { traceJobs } from '../../infra/tracing/traced-jobs.ts'
import { tracePort } from '../../infra/tracing/traced-port.ts'
import { traceQueue } from '../../infra/tracing/traced-queue.ts'
import { CALLBACK_POLL_MS, createCallbackSender } from './callbacks.ts'
import { sweepDeadLetters } from './dead-letters.ts'
import { watchForEmptyQueue } from './empty-queue.ts'
import { RELAY_ROWS, relayTurn } from './relay.ts'
import { createOrphanSweep, sweepRetention } from './retention.ts'
import { createJobSweep } from './sweeps.ts'

/** A loop that has not ended a turn for this long is stuck: the longest call's deadline, and then some. */
const STUCK_MS = 5 * 60_000

/** How often it logs how far behind the service is: what alarms and scaling on AWS read. */
const STATE_MS = 60_000

await runApp({
  name: 'reconciler',
  defaultPort: 8082,
  async start(config, log, registry) {
    const { timing, budget, host, port } = config
    const db = openDatabase(config.databaseUrl, {
      max: POOLS.reconciler(),
      callMs: timing.callMs,
      application: 'img42-reconciler',
    })
    await requireFittingSchema(db, log)
    const transitions = createNotifier(config.databaseUrl, 'img42_transitions')
    const observed = createCallObserver(registry)
    const jobs = announceTransitions(
      observeRepairs(registry, observed('jobs', traceJobs(createPostgresJobs(db)))),
      transitions.notify,
    )
    const opened = await openQueues(config, db)
    const queues = {
      jobs: observePublications(registry, observed('queue', traceQueue(opened.jobs))),
      deadLetters: observed('dead_letters', opened.deadLetters),
    }
    const objectStore = observed('object_store', tracePort('object_store', await openObjectStore(config)))
    const sweepJobs = createJobSweep({
      ...{ jobs, clock, timing, budget, log },
      queueIsEmpty: watchForEmptyQueue(queues.jobs, clock, timing),
    })
    const callbacksDb = openDatabase(config.databaseUrl, {
      max: POOLS.callbacks(),
      callMs: timing.callMs,
      application: 'img42-callbacks',
    })
    const callbackSender = createCallbackSender({
      ...{ clock, random, log },
      callbacks: observeCallbacks(registry, tracePort('callbacks', createPostgresCallbacks(callbacksDb))),
      send: createSendCallback({ allow: config.callbackAllow }),
      onFree: () => callbacks.wake(),
    })
    observePools(registry, { reconciler: db, callbacks: callbacksDb })
    const stateOf = (queueEmpty: boolean) => readState(db, { evidenceMs: timing.evidenceMs, queueEmpty })
    observeState(registry, { queues, clock, readState: stateOf })
    const sweepOrphans = createOrphanSweep({ jobs, objectStore, clock, timing })

    const stop = new AbortController()
    const lastTurns = new Map<string, number>()
    const loop = (name: string, everyMs: number, turn: () => Promise<boolean>) => {
      lastTurns.set(name, clock.now())
      // An outage is told of twice: when it begins, with its reason, and when it is over.
      let failed = 0
      return startLoop(clock, stop.signal, {
        async turn() {
          const more = await turn()
          if (failed > 0) log.info({ loop: name, failed_turns: failed }, 'turns succeed again')
          failed = 0
          return more
        },
        everyMs,
        onError: (err) => {
          failed++
          if (failed === 1) log.warn({ loop: name, err }, 'turn failed')
        },
        onTurn: () => lastTurns.set(name, clock.now()),
      })
    }

    const relay = loop('relay', timing.relayPollMs, async () => {
      const rows = await relayTurn({ jobs, queue: queues.jobs, clock, random, timing, log })
      return rows === RELAY_ROWS
    })
    const callbacks = loop('callbacks', CALLBACK_POLL_MS, callbackSender.turn)
    const sweeps = [
      loop('jobs', timing.sweepMs, async () => {
        await sweepJobs()
        return false
      }),
      loop('dead letters', timing.sweepMs, async () => {
        const letters = { jobs, deadLetters: queues.deadLetters, clock, timing, budget, log }
        return (await sweepDeadLetters(letters)) > 0
      }),
      loop('retention', timing.sweepMs, async () => {
        await sweepRetention({ jobs, objectStore, clock, timing })
        return false
      }),
      loop('orphans', timing.orphanAgeMs / 24, sweepOrphans),
      loop('state', STATE_MS, async () => {
        const state = await stateOf(false)
        log.info(
          {
            jobs_not_done: state.queuedJobs + state.runningJobs,
            oldest_job_age_seconds: Math.floor(state.oldestJobAgeSeconds),
            outbox_rows: state.outboxRows,
            oldest_outbox_row_age_seconds: Math.floor(state.oldestOutboxRowAgeSeconds),
          },
          'state',
        )
        return false
      }),
    ]
    const notifications = listen(config.databaseUrl, 'img42_outbox', relay.wake)

    const health = await serveHealth(host, port, {
      alive: () => [...lastTurns].every(([name, at]) => name === 'orphans' || clock.now() - at < STUCK_MS),
      ready: () => jobs.ping(),
    })
    return {
      port: health.port,
      async stop() {
        stop.abort()
        await Promise.all([notifications.close(), transitions.close()])
        await Promise.all([relay, callbacks, ...sweeps].map(({ ended }) => ended))
        await callbackSender.settled()
        health.close()
        await callbacksDb.destroy()
        await db.destroy()
      },
    }
  },
})
