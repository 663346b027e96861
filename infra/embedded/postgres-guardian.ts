/**
 * The process between the launcher and Postgres. Postgres does not notice that the launcher was killed; this process
 * does, because the IPC channel between them closes then, and ends Postgres. It also starts Postgres again when that
 * dies by itself.
 *
 * Runs in a session of its own, so that the terminal's Ctrl-C reaches neither it nor Postgres: the launcher stops the
 * apps first, and Postgres last.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Account } from './postgres-account.ts'
import { STOPS } from './postmaster.ts'

/** The guardian's one argument, as JSON. */
export interface GuardianOrder {
  command: string
  args: string[]
  account: Account | null
  /** Deleted once Postgres has ended. */
  throwAway: string[]
}

/** The launcher says so once it has connected; before, a Postgres that ends is not started again. */
export type FromLauncher = 'ready'

/** Postgres ended by itself, and is started again. */
export interface FromGuardian {
  ended: string
}

const { command, args, account, throwAway } = JSON.parse(process.argv[2]!) as GuardianOrder
let postgres: ChildProcess | null = null
let ready = false
let stopping = false

process.on('message', (message: FromLauncher) => {
  ready ||= message === 'ready'
})
process.on('disconnect', stop)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

// The channel may have closed before the listener was there.
if (!process.connected) stopping = true
for (let failures = 0; !stopping; failures++) {
  const startedAt = performance.now()
  const ended = await run()
  if (stopping) break
  if (!ready) process.exit(1)
  process.send?.({ ended } satisfies FromGuardian)
  if (performance.now() - startedAt > 10_000) failures = 0
  await delay(Math.min(5_000, 100 * 2 ** failures))
}
for (const folder of throwAway) rmSync(folder, { recursive: true, force: true })
process.exit(0)

/** Resolves once Postgres has ended, with how. */
function run(): Promise<string> {
  const child = spawn(command, args, {
    ...account,
    cwd: '/',
    // Nothing of the launcher's environment: it may hold credentials, and PG* variables.
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  postgres = child
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`))
  }).finally(() => {
    postgres = null
  }) as Promise<string>
}

async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  // A cluster that is thrown away needs no checkpoint.
  for (const [signal, patienceMs] of throwAway.length > 0 ? STOPS.slice(1) : STOPS) {
    postgres?.kill(signal)
    await delay(patienceMs)
  }
}
