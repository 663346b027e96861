import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { migrateToLatest } from '../../db/migrate.ts'
import { startPostgres } from '../../infra/embedded/postgres.ts'
import type { AppName } from '../end-to-end/app-process.ts'
import { SCALED } from '../end-to-end/stack.ts'
import { startAwsFront } from './aws-front.ts'
import { type EmulatedServices, startEmulatedServices } from './emulated-services.ts'
import { type SupervisedApp, superviseApp } from './supervised-app.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** Everything that faults can be done to; every process has served once when it is there. */
export interface Rig {
  apps: SupervisedApp[]
  services: EmulatedServices
  /** Of the API, whichever process is it at the moment. */
  apiUrl: string
  databaseUrl: string
  /** SIGKILL to the postmaster, as the kernel's out-of-memory killer does it; it recovers and listens at the same port. */
  killPostgres(): void
  /** Runs `work` on a connection of its own, with the superuser's rights. */
  asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T>
  restartSqs(): Promise<void>
  stop(): Promise<void>
}

/**
 * The protocol's durations, about five times shorter than the defaults: a shorter lease would be lost to the restarts
 * themselves, which keep the cores busy. The budget is far above the usual five: each kill between a claim and its
 * verdict is charged, and hundreds of kills are to show what they lose, not that a budget ends.
 */
const SETTINGS: Record<string, string> = {
  ...SCALED,
  HEARTBEAT_MS: '1500',
  LEASE_MS: '6000',
  VISIBILITY_SECONDS: '6',
  CALL_MS: '5000',
  STORE_CALL_MS: '10000',
  GRACE_MS: '12000',
  REPUBLISH_AGE_MS: '14000',
  EVIDENCE_MS: '2000',
  OUTBOX_LEASE_MS: '5000',
  RESERVATION_MS: '3000',
  MAX_ATTEMPTS: '40',
}

export const LEASE_MS = Number(SETTINGS.LEASE_MS)

const HOUR_MS = 3_600_000
const PROCESSES: { name: string; kind: AppName; clockShiftMs?: number }[] = [
  { name: 'api', kind: 'api' },
  { name: 'worker-1', kind: 'worker', clockShiftMs: HOUR_MS },
  { name: 'worker-2', kind: 'worker', clockShiftMs: -HOUR_MS },
  { name: 'reconciler', kind: 'reconciler' },
]

export async function startRig(onUnexpected: (sentence: string) => void): Promise<Rig> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'img42-chaos-'))
  // As root, Postgres runs as another user, who has to get in.
  chmodSync(dataDir, 0o755)
  const postgres = await startPostgres({
    dataDir,
    log: () => {},
    // Killed processes lose nothing that was written, synced or not; commits have to be written, hence no more than this.
    settings: { fsync: 'off', max_connections: '80' },
    throwAway: true,
  })
  await migrateToLatest(postgres.url)
  const services = await startEmulatedServices(Number(SETTINGS.VISIBILITY_SECONDS))
  const postgresPort = Number(new URL(postgres.url).port)
  // The API comes back at another port after each kill; its clients keep their address, as behind a balancer.
  const apiDoor = await startTcpProxy(1)
  const apps = await Promise.all(PROCESSES.map(startProcess))
  while (apps.some((app) => !app.current())) await delay(50)

  async function startProcess({ name, kind, clockShiftMs }: (typeof PROCESSES)[number]) {
    const [toPostgres, sqs, s3] = await Promise.all([
      startTcpProxy(postgresPort),
      startTcpProxy(services.sqsPort()),
      startTcpProxy(services.s3Port),
    ])
    const front = await startAwsFront({ sqs: sqs.port, s3: s3.port })
    const shifted = clockShiftMs !== undefined && {
      NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`,
      CLOCK_SHIFT_MS: String(clockShiftMs),
    }
    return superviseApp({
      ...{ name, kind, front, onUnexpected },
      proxies: { postgres: toPostgres, sqs, s3 },
      env: () => ({
        ...SETTINGS,
        DATABASE_URL: throughProxy(postgres.url, toPostgres),
        QUEUE_URL: services.queueUrl,
        S3_BUCKET: services.bucket,
        AWS_ENDPOINT_URL: front.endpointUrl,
        ...shifted,
      }),
      onStarted({ port }) {
        if (kind === 'api') apiDoor.aim(port)
      },
    })
  }

  return {
    apps,
    services,
    apiUrl: `http://127.0.0.1:${apiDoor.port}`,
    databaseUrl: postgres.url,
    killPostgres() {
      const pidFile = readFileSync(path.join(postgres.folder, 'data', 'postmaster.pid'), 'utf8')
      process.kill(Number.parseInt(pidFile, 10), 'SIGKILL')
    },
    async asAdmin(work) {
      const client = new pg.Client({
        connectionString: postgres.url,
        connectionTimeoutMillis: 5_000,
        query_timeout: 20_000,
      })
      client.on('error', () => {})
      await client.connect()
      try {
        return await work(client)
      } finally {
        await client.end().catch(() => {})
      }
    },
    async restartSqs() {
      for (const { proxies } of apps) proxies.sqs.refuse()
      await services.restartSqs()
      for (const { proxies } of apps) {
        proxies.sqs.aim(services.sqsPort())
        proxies.sqs.heal()
      }
    },
    async stop() {
      await Promise.all(apps.map((app) => app.stop()))
      await apiDoor.close()
      await services.stop()
      await postgres.stop()
    },
  }
}

const SHIFTED_CLOCK = fileURLToPath(new URL('shifted-clock.ts', import.meta.url))

function throughProxy(url: string, proxy: TcpProxy): string {
  const through = new URL(url)
  through.port = String(proxy.port)
  return through.href
}
