import type { Writable } from 'node:stream'

export interface LogOutput {
  write(line: string): void
  /** Calls `then` when all was taken, which may be at once; when nobody takes it any more; or after `withinMs`. */
  flush(withinMs: number, then: () => void): void
}

/** What waits for a reader at most, in bytes. More would be memory that the service needs; the lines are left out then. */
const MAX_WAITING_BYTES = 1_000_000

/**
 * Writes lines without ever waiting for who reads them: a reader that is slow costs lines, and one that is gone costs all
 * of them, but neither costs a request. How many were left out is said as soon as there is room again.
 *
 * @param stdout not yet listened to by anybody; a pipe is written to without blocking (`process.stdout` on POSIX), a file
 *   and a terminal at once
 */
export function createLogOutput(stdout: Writable): LogOutput {
  let left = 0
  let gone = false
  // A full disk below the log, or a reader that has ended.
  stdout.on('error', () => {
    gone = true
  })

  return {
    write(line) {
      if (gone) return
      if (stdout.writableLength > MAX_WAITING_BYTES) {
        left += 1
        return
      }
      if (left > 0) {
        const time = new Date().toISOString()
        stdout.write(`${JSON.stringify({ level: 'warn', time, lines: left, msg: 'log lines left out' })}\n`)
        left = 0
      }
      stdout.write(line)
    },
    flush(withinMs, then) {
      if (gone || stdout.writableLength === 0) return then()
      const timer = setTimeout(then, withinMs)
      stdout.write('', () => {
        clearTimeout(timer)
        then()
      })
    },
  }
}
