import type { Log } from '../../infra/log.ts'
import { foreseen } from './invariants/foreseen.ts'
import {
  type Api,
  type ServiceParts,
  type Stoppable,
  startApi,
  startRelay,
  startSweeper,
  startWorker,
} from './services.ts'
import { type Actor, type SimulatedProcess, startProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** The processes of the service, and a platform that starts again what dies. */
export interface Fleet {
  /** The API, as a client's connection finds it: null while it is down. */
  api(): { process: SimulatedProcess; api: Api } | null
  /** Stops a worker as a deploy does: asks, waits for its end or the platform's patience, starts another. */
  deploy(worker: number): void
}

export function startFleet(world: World): Fleet {
  const { scenario, scheduler, trace, random } = world
  const { timing, budget, concurrency } = scenario
  let api: ReturnType<Fleet['api']> = null
  const relays: { wake(): void }[] = []
  const workers: { process: SimulatedProcess; worker: Stoppable }[] = []
  const restarts = random.fork('restarts')

  launch('api', 'api', 1, (parts) => {
    // The notification that a commit sends may be lost as well as come.
    const wakeRelays = () => {
      for (const relay of relays) if (restarts.chance(0.8)) scheduler.schedule(1, () => relay.wake())
    }
    api = { process: parts.process, api: startApi(parts, wakeRelays) }
    parts.process.onDeath(() => {
      api = null
    })
  })
  for (let i = 0; i < scenario.relays; i++) {
    launch('relay', `relay-${i + 1}`, 1, (parts) => {
      const relay = startRelay(parts)
      relays[i] = { wake: () => parts.process.deliver(relay.wake) }
    })
  }
  for (let i = 0; i < scenario.workers; i++) {
    launch('worker', `worker-${i + 1}`, 1, (parts) => {
      workers[i] = { process: parts.process, worker: startWorker(parts) }
    })
  }
  for (let i = 0; i < scenario.sweepers; i++) launch('sweeper', `sweeper-${i + 1}`, 1, startSweeper)

  return {
    api: () => api,
    deploy(index) {
      const { process, worker } = workers[index]!
      if (!process.alive()) return
      trace.note(process.name, 'is told to stop')
      const patience = scheduler.schedule(timing.stopGraceMs, () => {
        if (!process.alive()) return
        // Faults may keep it from its end; where there are none, it has to find it.
        if (scenario.promise === 'deploys')
          world.report('drain', `${process.name} did not end within ${timing.stopGraceMs} ms`)
        process.kill('the platform’s patience ended')
      })
      worker.ended.then(() => {
        patience.cancel()
        world.checkDrained(process)
        process.kill('it has stopped')
      })
      process.deliver(() => {
        process.stop()
        worker.stop()
      })
    },
  }

  function launch(actor: Actor, name: string, life: number, start: (parts: ServiceParts) => void): void {
    const skewMs = scenario.skewMs[name] ?? 0
    const process = startProcess({
      ...{ actor, scheduler, trace, skewMs },
      name: `${name}#${life}`,
      random: random.fork(`${name}#${life}`),
    })
    trace.note(process.name, 'starts')
    process.onDeath(() => {
      const afterMs = restarts.int(scenario.restartMs.least, scenario.restartMs.most)
      scheduler.schedule(afterMs, () => launch(actor, name, life + 1, start))
    })
    start({ process, ports: world.portsOf(process), log: createLog(process), timing, budget, concurrency })
  }

  function createLog(process: SimulatedProcess): Log {
    const line = (detail: object, text?: string) => {
      if (!process.alive()) return
      const { err } = detail as { err?: unknown }
      trace.note(process.name, `says: ${text}`, () => (err ? `(${err})` : ''))
      if (err && !foreseen(err)) world.report('defect', `${process.name}: ${text}: ${(err as Error).stack}`)
    }
    return { debug: line, info: line, warn: line, error: line } as unknown as Log
  }
}
