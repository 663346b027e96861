import { once } from 'node:events'
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import path from 'node:path'
import { holdLock, type Lock } from './lock.ts'
import { placeBinaries } from './postgres-binaries.ts'
import { dropDatabase, makeCluster, makeDatabase, readPassword, USER } from './postgres-cluster.ts'
import type { FromGuardian } from './postgres-guardian.ts'
import { type Home, placeHome } from './postgres-home.ts'
import { launch } from './postgres-launch.ts'
import { stopLeftBehind } from './postmaster.ts'

export interface PostgresOptions {
  /** Made if it is missing. The database lives in it, or where its file `postgres-location` says. */
  dataDir: string
  /** Called with a sentence about what takes long, and about what went wrong and was mended. */
  log: (sentence: string) => void
  /** Settings of Postgres beside the ones that are fixed here, such as `{ fsync: 'off' }` for tests. */
  settings?: Record<string, string>
  /** Delete `dataDir` and the database once Postgres has ended, however this process ends. Defaults to false. */
  throwAway?: boolean
}

export interface RunningPostgres {
  /** Of the database `img42`, as a superuser; on 127.0.0.1 only, by a random password. */
  url: string
  /** Where the cluster is. */
  folder: string
  /** Makes the database `name` anew, empty, and resolves with its URL. */
  emptyDatabase(name: string): Promise<string>
  /** Resolves when Postgres is gone for good, asked or not. One that merely dies is started again at the same port. */
  gone: Promise<void>
  /** Shuts Postgres down, disconnecting whoever is connected. May be called more than once. */
  stop(): Promise<void>
}

/**
 * Starts the Postgres of `dataDir` on a free port and resolves once it takes connections; makes the cluster the first
 * time. What an earlier start left behind is put in order: a running Postgres is stopped, a stale `postmaster.pid`
 * is passed over. Postgres ends with this process, even if that is killed, and does not keep it from ending.
 *
 * @throws {LockHeldError} when another process runs the Postgres of `dataDir`
 * @throws {Error} with a sentence for people when it cannot start on this machine
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  mkdirSync(options.dataDir, { recursive: true })
  const dataDir = realpathSync(options.dataDir)
  const locks = [holdLock(path.join(dataDir, 'postgres.lock'))]
  try {
    const home = placeHome(dataDir)
    // A copy of the data directory names the same place: its own lock does not keep that from running twice.
    if (path.dirname(home.folder) !== dataDir) locks.push(holdLock(path.join(home.folder, 'lock')))
    return await startIn(home, { ...options, dataDir }, locks)
  } catch (error) {
    for (const lock of locks) lock.release()
    if (options.throwAway) rmSync(dataDir, { recursive: true, force: true })
    throw error
  }
}

async function startIn(
  home: Home,
  { dataDir, log, settings = {}, throwAway = false }: PostgresOptions,
  locks: Lock[],
): Promise<RunningPostgres> {
  const { postgres, initdb } = await placeBinaries(home.account)
  const password = readPassword(dataDir)
  const data = path.join(home.folder, 'data')
  if (!existsSync(data)) {
    log('making the database (once) …')
    await makeCluster({ home, initdb, password, durable: settings.fsync !== 'off' })
  } else if (await stopLeftBehind(data)) {
    log('stopped a Postgres that an earlier start had left behind')
  }
  const logFile = path.join(dataDir, 'logs', 'postgres.log')
  mkdirSync(path.dirname(logFile), { recursive: true })
  const urlOf = (database: string) => (port: number) =>
    `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`
  const { guardian, port } = await launch({
    order: {
      command: postgres,
      args: ['-D', data, ...asArguments({ ...settings, ...FIXED })],
      account: home.account,
      throwAway: throwAway ? [dataDir, home.folder] : [],
    },
    logFile,
    urlAt: urlOf('postgres'),
  })

  let stopping = false
  guardian.on('message', ({ ended }: FromGuardian) => log(`Postgres ended (${ended}) and is started again`))
  const gone = once(guardian, 'exit').then(async () => {
    // A guardian that was killed itself leaves Postgres behind.
    if (!stopping) await stopLeftBehind(data)
    for (const lock of locks) lock.release()
  })
  guardian.unref()
  guardian.channel?.unref()
  const stop = async () => {
    stopping = true
    guardian.ref()
    if (guardian.connected) guardian.disconnect()
    await gone
  }
  const admin = urlOf('postgres')(port)
  try {
    await makeDatabase(admin, DATABASE)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: urlOf(DATABASE)(port),
    folder: home.folder,
    async emptyDatabase(name) {
      await dropDatabase(admin, name)
      await makeDatabase(admin, name)
      return urlOf(name)(port)
    },
    gone,
    stop,
  }
}

const DATABASE = 'img42'

const FIXED = {
  listen_addresses: '127.0.0.1',
  // TCP alone: a socket's path may be too long for the system below a deep data directory.
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // The log names errors, never the statements, which may hold what users sent.
  log_min_error_statement: 'panic',
}

function asArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
