import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Makes sure that no Postgres runs on the cluster in `data` and that `postmaster.pid` does not keep the next one from
 * starting. Needs the data directory's lock: only then is a running Postgres one that its launcher left behind.
 *
 * @returns whether one was left behind, and is stopped now
 */
export async function stopLeftBehind(data: string): Promise<boolean> {
  const pid = readPid(data)
  if (pid === null) return false
  const leftBehind = runsOn(pid, data)
  for (const [signal, patienceMs] of STOPS) {
    if (!runsOn(pid, data)) break
    process.kill(pid, signal)
    for (let waited = 0; waited < patienceMs && runsOn(pid, data); waited += POLL_MS) await delay(POLL_MS)
  }
  forgetForeignPid(data)
  return leftBehind
}

/** Fast shutdown, immediate shutdown, the kernel; and how long each may take. */
export const STOPS: readonly [signal: NodeJS.Signals, patienceMs: number][] = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
]
const POLL_MS = 20

/**
 * Postgres refuses to start while the process of `postmaster.pid` is alive, though the system may have given that id to
 * a stranger since, or keep it for a zombie. The id is replaced by one that no process has, rather than the file
 * deleted: the file also names the shared memory, by which Postgres finds sessions that outlived their postmaster.
 */
function forgetForeignPid(data: string): void {
  const pid = readPid(data)
  if (pid === null || !isAlive(pid)) return
  const file = path.join(data, 'postmaster.pid')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(NOBODY)))
}

const NOBODY = 2 ** 31 - 1

function readPid(data: string): number | null {
  try {
    return Number.parseInt(readFileSync(path.join(data, 'postmaster.pid'), 'utf8'), 10) || null
  } catch {
    return null
  }
}

/** Whether the process is a postmaster on this very cluster: its working directory is the cluster's. */
function runsOn(pid: number, data: string): boolean {
  if (process.platform === 'linux') {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === data
    } catch {
      return false
    }
  }
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  return (stdout ?? '').includes(`-D ${data}`)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
