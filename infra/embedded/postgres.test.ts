import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { asAdmin } from '../../test/database.ts'
import { LockHeldError } from './lock.ts'
import { type RunningPostgres, startPostgres } from './postgres.ts'

const isRoot = process.getuid?.() === 0

/** Tests start, stop and kill on one cluster, one after the other: making a cluster takes longer than all of that. */
let folder: string
let dataDir: string
let running: RunningPostgres[] = []
let launchers: ChildProcess[] = []

beforeAll(() => makeDataDir(0o755))

afterEach(async () => {
  for (const launcher of launchers) launcher.kill('SIGKILL')
  await Promise.all(running.map(({ stop }) => stop()))
  await waitForEnd()
  launchers = []
  running = []
})

afterAll(removeDataDir)

function makeDataDir(mode: number): void {
  folder = mkdtempSync(path.join(tmpdir(), 'img42-postgres-'))
  chmodSync(folder, mode)
  dataDir = path.join(folder, 'data')
}

function removeDataDir(): void {
  const location = path.join(dataDir, 'postgres-location')
  if (existsSync(location)) rmSync(readFileSync(location, 'utf8').trim(), { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}

async function start(): Promise<{ postgres: RunningPostgres; sentences: string[] }> {
  const sentences: string[] = []
  const postgres = await startPostgres({
    dataDir,
    log: (sentence) => sentences.push(sentence),
    settings: { fsync: 'off' },
  })
  running.push(postgres)
  return { postgres, sentences }
}

/** Starts the Postgres of `dataDir` under a process that can be killed. */
async function startLauncher(): Promise<{ launcher: ChildProcess; url: string }> {
  const launcher = spawn(process.execPath, [path.join(import.meta.dirname, 'postgres.fixture.ts'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  launchers.push(launcher)
  const [line] = await once(createInterface(launcher.stdout!), 'line')
  return { launcher, url: JSON.parse(line).url }
}

/** All at once: the guardian has no time to see its launcher go. */
async function killAll(launcher: ChildProcess, pids: number[]): Promise<void> {
  const exited = once(launcher, 'exit')
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await exited
}

function postmasterPid(): number | null {
  try {
    return Number.parseInt(readFileSync(path.join(clusterFolder(), 'postmaster.pid'), 'utf8'), 10)
  } catch {
    return null
  }
}

function clusterFolder(): string {
  const location = path.join(dataDir, 'postgres-location')
  const home = existsSync(location) ? readFileSync(location, 'utf8').trim() : path.join(dataDir, 'postgres')
  return path.join(home, 'data')
}

/** The processes that have the data directory in their command line: guardian and postmaster. */
function processesOf(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(directory))
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function waitForEnd(): Promise<void> {
  return vi.waitFor(() => expect(processesOf(clusterFolder())).toEqual([]), { timeout: 30_000, interval: 20 })
}

/** Commits something, and returns how to see that it is still there. */
async function keep(url: string): Promise<(url: string) => Promise<void>> {
  const table = `kept_${randomBytes(4).toString('hex')}`
  await asAdmin(url, (client) => client.query(`CREATE TABLE ${table} AS SELECT 42 AS answer`))
  return async (url) => {
    const { rows } = await asAdmin(url, (client) => client.query(`SELECT answer FROM ${table}`))
    expect(rows).toEqual([{ answer: 42 }])
  }
}

describe.runIf(process.platform === 'linux')('the embedded Postgres', () => {
  test('keeps its data over a stop and a start', async () => {
    const first = await start()
    const expectKept = await keep(first.postgres.url)
    await first.postgres.stop()
    expect(processesOf(clusterFolder())).toEqual([])

    const second = await start()
    expect(second.sentences).toEqual([])
    await expectKept(second.postgres.url)
  })

  test('asks everybody for the password, which nobody else can read', async () => {
    const { postgres } = await start()
    const url = new URL(postgres.url)
    expect(url.hostname).toBe('127.0.0.1')
    expect(statSync(path.join(dataDir, 'postgres-password')).mode & 0o777).toBe(0o600)
    url.password = 'guessed'
    await expect(asAdmin(url.href, (client) => client.query('SELECT 1'))).rejects.toThrow(
      /password authentication failed/,
    )
  })

  test('a second start on the same folder is refused, and says which process holds it', async () => {
    const { launcher } = await startLauncher()
    const second = startPostgres({ dataDir, log: () => {} })
    await expect(second).rejects.toThrow(LockHeldError)
    await expect(second).rejects.toMatchObject({ pid: launcher.pid })
  })

  test('a killed launcher leaves no process behind', async () => {
    const { launcher } = await startLauncher()
    expect(processesOf(clusterFolder()).length).toBeGreaterThanOrEqual(2)
    launcher.kill('SIGKILL')
    await waitForEnd()
    expect(postmasterPid()).toBeNull()
  })

  test('kill -9 of everything and a new start keep what was committed', async () => {
    const { launcher, url } = await startLauncher()
    const expectKept = await keep(url)
    const pids = [launcher.pid!, ...processesOf(clusterFolder())]
    expect(pids).toContain(postmasterPid())
    await killAll(launcher, pids)
    expect(postmasterPid()).not.toBeNull()

    const { postgres } = await start()
    await expectKept(postgres.url)
  })

  test('a Postgres whose launcher and guardian were killed is stopped and started anew', async () => {
    const { launcher, url } = await startLauncher()
    const expectKept = await keep(url)
    const orphan = postmasterPid()!
    await killAll(
      launcher,
      [launcher.pid!, ...processesOf(clusterFolder())].filter((pid) => pid !== orphan),
    )
    const { postgres, sentences } = await start()
    expect(sentences).toEqual(['stopped a Postgres that an earlier start had left behind'])
    expect(postmasterPid()).not.toBe(orphan)
    await expectKept(postgres.url)
  })

  test('a stale postmaster.pid is passed over, whoever has its process id now', async () => {
    const first = await start()
    const expectKept = await keep(first.postgres.url)
    const file = path.join(clusterFolder(), 'postmaster.pid')
    const lines = readFileSync(file, 'utf8').split('\n')
    await first.postgres.stop()

    const { uid, gid } = statSync(clusterFolder())
    // Of the same user as Postgres: that one is a process which Postgres itself takes for another postmaster.
    const stranger = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore', cwd: '/' })
    try {
      writeFileSync(file, [String(stranger.pid), ...lines.slice(1)].join('\n'), { mode: 0o600 })
      chownSync(file, uid, gid)
      const second = await start()
      await expectKept(second.postgres.url)
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  test('Postgres is started again, where it was, when it dies by itself', async () => {
    const { postgres, sentences } = await start()
    const expectKept = await keep(postgres.url)
    const killed = postmasterPid()!
    process.kill(killed, 'SIGKILL')
    await vi.waitFor(() => expectKept(postgres.url), { timeout: 30_000, interval: 50 })
    expect(postmasterPid()).not.toBe(killed)
    expect(sentences.at(-1)).toBe('Postgres ended (killed by SIGKILL) and is started again')
  })

  test('a cluster that was half made when its maker was killed is made anew', async () => {
    const { postgres } = await start()
    await postgres.stop()
    renameSync(clusterFolder(), path.join(path.dirname(clusterFolder()), 'data.new-1234'))
    const second = await start()
    await (await keep(second.postgres.url))(second.postgres.url)
    expect(readdirSync(path.dirname(clusterFolder()))).toEqual(['data'])
  })

  test('a database that is thrown away leaves nothing', async () => {
    const temporary = path.join(folder, 'temporary')
    const options = { log: () => {}, settings: { fsync: 'off' }, throwAway: true }
    const { stop } = await startPostgres({ dataDir: temporary, ...options })
    await stop()
    expect(existsSync(temporary)).toBe(false)
  })

  describe.runIf(isRoot)(
    'as root (left out for anybody else), below a folder that is closed to others',
    () => {
      beforeAll(() => {
        removeDataDir()
        makeDataDir(0o700)
      })

      test('lives elsewhere, and the data directory names the place', async () => {
        const first = await start()
        const expectKept = await keep(first.postgres.url)
        await first.postgres.stop()
        const place = readFileSync(path.join(dataDir, 'postgres-location'), 'utf8').trim()
        expect(readdirSync(place)).toContain('data')
        expect(existsSync(path.join(dataDir, 'postgres'))).toBe(false)
        const second = await start()
        await expectKept(second.postgres.url)
      })

      test('does not run twice from a copy of the data directory', async () => {
        await start()
        const copy = path.join(folder, 'copy')
        cpSync(dataDir, copy, { recursive: true })
        await expect(startPostgres({ dataDir: copy, log: () => {} })).rejects.toThrow(LockHeldError)
      })

      test('refuses to begin anew in silence when the place is gone', async () => {
        const { postgres } = await start()
        await postgres.stop()
        rmSync(readFileSync(path.join(dataDir, 'postgres-location'), 'utf8').trim(), { recursive: true })
        await expect(startPostgres({ dataDir, log: () => {} })).rejects.toThrow(/which is gone/)
      })
    },
  )
})
