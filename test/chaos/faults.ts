import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { CRASH_POINTS } from './crash-points.ts'
import { LEASE_MS, type Rig } from './rig.ts'
import type { Chance } from './seeded-chance.ts'
import type { SupervisedApp } from './supervised-app.ts'
import type { Tally } from './tally.ts'

export const PROCESS_KILLS = 'processes killed'
export const POSTGRES_KILLS = 'Postgres killed'

const KILL_POSTGRES = 'kill Postgres'

export interface Fault {
  name: string
  /** How often it is chosen, relative to the others. */
  weight: number
  strike(): Promise<void>
}

/** The faults of one run. Each of them ends by itself, and leaves everything whole but for what it destroyed. */
export function createFaults(rig: Rig, chance: Chance, tally: Tally): Fault[] {
  let postgresBusy = false

  /** A fault of one process, while no other fault has it. */
  async function onSome(
    among: (app: SupervisedApp) => boolean,
    act: (app: SupervisedApp) => Promise<void>,
  ): Promise<void> {
    const free = rig.apps.filter((app) => !app.busy && app.current() && among(app))
    if (free.length === 0) return
    const app = chance.pick(free)
    app.busy = true
    try {
      await act(app)
    } finally {
      app.busy = false
    }
  }

  async function onPostgres(act: () => Promise<void>): Promise<void> {
    if (postgresBusy) return
    postgresBusy = true
    try {
      await act()
    } finally {
      postgresBusy = false
    }
  }

  const anyApp = () => true
  const worker = (app: SupervisedApp) => app.kind === 'worker'

  async function killAtPoint(): Promise<void> {
    const point = chance.pick(CRASH_POINTS)
    const when = chance.pick(['before', 'after'] as const)
    await onSome(
      (app) => app.kind === point.app,
      async (app) => {
        const struck = Promise.withResolvers<void>()
        const act = () => {
          if (app.kill()) {
            tally.count(PROCESS_KILLS)
            tally.count(`killed ${when} "${point.name}"`)
          }
          struck.resolve()
        }
        const takeBack = app.proxies[point.service].set({ pattern: point.pattern, when, act })
        await Promise.race([struck.promise, delay(PATIENCE_MS, undefined, { ref: false })])
        takeBack()
      },
    )
  }

  return [
    {
      name: 'kill a process',
      weight: 8,
      strike: () =>
        onSome(anyApp, async (app) => {
          if (app.kill()) tally.count(PROCESS_KILLS)
        }),
    },
    { name: 'kill a process at a point of the protocol', weight: 10, strike: killAtPoint },
    {
      name: 'stop a process for longer than the lease',
      weight: 2,
      strike: () =>
        onSome(anyApp, async (app) => {
          tally.count(`${app.kind} stopped for longer than the lease`)
          await app.freeze(LEASE_MS * chance.between(1.3, 2.2))
        }),
    },
    {
      name: 'kill a rendering process',
      weight: 1,
      strike: () =>
        onSome(worker, async (app) => {
          if (app.killRenderer()) tally.count('rendering processes killed')
        }),
    },
    {
      name: 'deploy',
      weight: 1,
      strike: () =>
        onSome(anyApp, async (app) => {
          tally.count('deploys (SIGTERM)')
          await app.deploy()
        }),
    },
    {
      name: 'cut a process off a service, half-open',
      weight: 3,
      strike: () =>
        onSome(anyApp, async (app) => {
          const service = chance.pick(['postgres', 'sqs', 's3'] as const)
          tally.count(`${app.kind} cut off ${service}, half-open`)
          app.proxies[service].silence()
          await delay(chance.between(500, 2 * LEASE_MS))
          app.proxies[service].heal()
        }),
    },
    {
      name: KILL_POSTGRES,
      weight: 0.8,
      strike: () =>
        onPostgres(async () => {
          rig.killPostgres()
          tally.count(POSTGRES_KILLS)
          await patiently(() => rig.asAdmin((client) => client.query('select 1')))
        }),
    },
    {
      name: 'Postgres read-only',
      weight: 0.6,
      strike: () =>
        onPostgres(async () => {
          tally.count('Postgres read-only')
          await setReadOnly(rig, true)
          await delay(chance.between(1_000, 4_000))
          await setReadOnly(rig, false)
        }),
    },
    {
      name: 'every connection of Postgres taken',
      weight: 0.5,
      strike: () =>
        onPostgres(async () => {
          tally.count('connections of Postgres exhausted')
          await takeAllConnections(rig.databaseUrl, chance.between(1_000, 3_000))
        }),
    },
    {
      name: 'every connection of the pools busy',
      weight: 0.5,
      strike: () =>
        onPostgres(async () => {
          tally.count('pools exhausted by a locked table')
          await lockJobs(rig, chance.between(1_000, 3_000))
        }),
    },
    {
      name: 'SQS restarted, empty',
      weight: 0.2,
      async strike() {
        tally.count('SQS restarted, empty')
        await rig.restartSqs()
      },
    },
  ]
}

/** One of the faults, by their weights. */
export function pickFault(faults: readonly Fault[], chance: Chance): Fault {
  let at = chance.next() * faults.reduce((sum, { weight }) => sum + weight, 0)
  for (const fault of faults) {
    at -= fault.weight
    if (at < 0) return fault
  }
  return faults[0]!
}

/** The one that kills Postgres: chance alone may leave it out for long. */
export function postgresKill(faults: readonly Fault[]): Fault {
  return faults.find(({ name }) => name === KILL_POSTGRES)!
}

/** How long a process is waited for to come to the point where it is killed. */
const PATIENCE_MS = 4_000

async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries >= 100) throw error
      await delay(200)
    }
  }
}

/** Every transaction that begins from then on, of whichever session, may only read; as on a server about to be replaced. */
async function setReadOnly(rig: Rig, readOnly: boolean): Promise<void> {
  await patiently(() =>
    rig.asAdmin(async (client) => {
      await client.query('set default_transaction_read_only = off')
      await client.query(`alter system set default_transaction_read_only = ${readOnly ? 'on' : 'off'}`)
      await client.query('select pg_reload_conf()')
    }),
  )
}

async function takeAllConnections(url: string, ms: number): Promise<void> {
  const taken: pg.Client[] = []
  const endsAt = Date.now() + ms
  while (Date.now() < endsAt) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
    client.on('error', () => {})
    // Refused: there are none left. What a process gives up meanwhile is taken at the next turn.
    const got = await client.connect().then(
      () => true,
      () => false,
    )
    if (got) taken.push(client)
    else await delay(50)
  }
  await Promise.all(taken.map((client) => client.end().catch(() => {})))
}

async function lockJobs(rig: Rig, ms: number): Promise<void> {
  await rig
    .asAdmin(async (client) => {
      await client.query('begin')
      await client.query('lock table jobs in access exclusive mode')
      await delay(ms)
      await client.query('rollback')
    })
    // Postgres was away: then nobody needs the lock to find its pool exhausted.
    .catch(() => {})
}
