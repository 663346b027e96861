import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Somebody else holds the lock. */
export class LockHeldError extends Error {
  /** The process that holds it; null while it has not yet said so. */
  readonly pid: number | null

  constructor(file: string, pid: number | null) {
    super(`${file} is held by ${pid === null ? 'another process' : `process ${pid}`}`)
    this.name = 'LockHeldError'
    this.pid = pid
  }
}

export interface Lock {
  release(): void
}

/**
 * Holds `file` as a lock until {@link Lock.release} or the end of this process, however it ends: the kernel gives it
 * back, so that a stale lock cannot exist and no process id, which another process may have been given since, decides
 * anything. Node has no `flock` of its own; SQLite's exclusive transaction is one, on every platform.
 *
 * @throws {LockHeldError} within a second, when another process (or another caller in this one) holds it
 */
export function holdLock(file: string): Lock {
  const holder = `${file}.pid`
  const database = new DatabaseSync(file, { timeout: PATIENCE_MS })
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new LockHeldError(file, readPid(holder))
  }
  held.add(database)
  writeFileSync(holder, `${process.pid}\n`)
  return {
    release() {
      if (!held.delete(database)) return
      rmSync(holder, { force: true })
      database.close()
    },
  }
}

/** A process that was killed takes a moment to be gone. */
const PATIENCE_MS = 500
/** Keeps what is held from the garbage collector, which would close it: a caller need not keep its lock. */
const held = new Set<DatabaseSync>()
const SQLITE_BUSY = 5

function readPid(file: string): number | null {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || null
  } catch {
    return null
  }
}
