import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

export type AppName = 'api' | 'worker' | 'reconciler'

/** A line of the app's log. */
export interface LogLine {
  msg: string
  [field: string]: unknown
}

export interface AppProcess {
  port: number
  /** Where its metrics are. */
  metricsPort: number
  pid: number
  /** Everything that it has logged so far. */
  lines: LogLine[]
  /** The first line, past or to come, that is as asked; rejects when the process ends without one. */
  logged(what: (line: LogLine) => boolean): Promise<LogLine>
  /** Resolves when it is gone, with its exit code, or null when a signal ended it. */
  ended: Promise<number | null>
  /** SIGKILL: no drain, no last word. Resolves when it is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with its exit code when it has drained. */
  stop(): Promise<number | null>
}

const ROOT = path.resolve(import.meta.dirname, '../..')

/** Starts one app as a process of its own and resolves once it serves; from another version's sources where `root` says so. */
export async function startApp(name: AppName, env: Record<string, string>, root = ROOT): Promise<AppProcess> {
  const child: ChildProcess = fork(path.join(root, 'apps', name, 'main.ts'), {
    env: { ...process.env, ...env, PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  const lines: LogLine[] = []
  const watchers = new Set<(line: LogLine) => void>()
  createInterface({ input: child.stdout! }).on('line', (text) => {
    const line = parseLine(text)
    if (!line) return
    lines.push(line)
    for (const watcher of watchers) watcher(line)
  })
  const listening = once(child, 'message') as Promise<[{ listening: number; metrics: number }]>
  const started = await Promise.race([listening, exited.then(() => null)])
  if (!started) throw new Error(`${name} did not start: ${JSON.stringify(lines.at(-1))}`)

  return {
    port: started[0].listening,
    metricsPort: started[0].metrics,
    pid: child.pid!,
    lines,
    ended: exited.then(([code]) => code),
    logged: (what) =>
      new Promise((resolve, reject) => {
        const past = lines.find(what)
        if (past) return resolve(past)
        const watcher = (line: LogLine) => {
          if (!what(line)) return
          watchers.delete(watcher)
          resolve(line)
        }
        watchers.add(watcher)
        exited.then(() => reject(new Error(`${name} ended without logging it`)))
      }),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      return (await exited)[0]
    },
  }
}

/** Null for half a line: a killed process leaves one now and then. */
function parseLine(text: string): LogLine | null {
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return null
  }
}
