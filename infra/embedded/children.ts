import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface AppToStart {
  name: string
  /** The program, run by this process's own Node. */
  entry: string
  env: NodeJS.ProcessEnv
  /** Everything it says is appended to it. */
  logFile: string
  /** How long after SIGTERM it is killed, in milliseconds. */
  stopGraceMs: number
  /** Called with a sentence when it ended by itself and is started again. */
  log: (sentence: string) => void
}

export interface Ports {
  port: number
  metricsPort: number
}

export interface RunningApp {
  /** Its ports, once it serves; rejects with the app's own sentence when it ends, or says nothing for a minute. */
  listening: Promise<Ports>
  /** Asks it to stop and resolves once it has ended. */
  stop(): Promise<void>
}

/**
 * Starts an app as a child process, which says over its IPC channel where it listens. From then on it is started again,
 * on the same ports, whenever it ends by itself, with growing waits. The channel is also how it ends with this process:
 * it closes even when this process is killed.
 */
export function startApp(app: AppToStart): RunningApp {
  mkdirSync(path.dirname(app.logFile), { recursive: true })
  const stopping = new AbortController()
  const logStart = statSync(app.logFile, { throwIfNoEntry: false })?.size ?? 0
  let current = run(app, app.env)
  const listening = Promise.race([
    current.listening,
    current.ended.then(() => null),
    delay(START_MS, null, { ref: false }),
  ]).then((ports) => {
    if (ports !== null) return ports
    current.child.kill('SIGKILL')
    throw new Error(lastSentence(app.logFile, logStart) ?? `${app.name} did not start; see ${app.logFile}`)
  })

  const supervise = async () => {
    const { port, metricsPort } = await listening
    const env = { ...app.env, PORT: String(port), METRICS_PORT: String(metricsPort) }
    for (let failures = 0; ; failures++) {
      const startedAt = performance.now()
      const how = await current.ended
      if (stopping.signal.aborted) return
      if (performance.now() - startedAt > STEADY_MS) failures = 0
      app.log(`${app.name} ended (${how}) and is started again`)
      await delay(Math.min(30_000, 250 * 2 ** failures), null, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      current = run(app, env)
    }
  }
  supervise().catch(() => {})
  return {
    listening,
    async stop() {
      stopping.abort()
      current.child.kill('SIGTERM')
      const patience = setTimeout(() => current.child.kill('SIGKILL'), app.stopGraceMs)
      await current.ended
      clearTimeout(patience)
    },
  }
}

const START_MS = 60_000
/** An app that ran for this long is taken to have recovered from what ended it before. */
const STEADY_MS = 60_000

interface Run {
  child: ChildProcess
  listening: Promise<Ports>
  /** How it ended. */
  ended: Promise<string>
}

function run({ entry, logFile }: AppToStart, env: NodeJS.ProcessEnv): Run {
  const log = openSync(logFile, 'a')
  const child = spawn(process.execPath, [entry], {
    env,
    stdio: ['ignore', log, log, 'ipc'],
    // A session of its own: Ctrl-C reaches the launcher alone, which stops the apps in their order.
    detached: true,
  })
  closeSync(log)
  return {
    child,
    listening: new Promise((resolve) => {
      child.on('message', (message: { listening?: number; metrics?: number }) => {
        const { listening: port, metrics: metricsPort } = message
        if (port !== undefined && metricsPort !== undefined) resolve({ port, metricsPort })
      })
    }),
    ended: new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`))
    }),
  }
}

/** The last line for people that a process wrote since: its other lines are JSON. */
function lastSentence(logFile: string, start: number): string | undefined {
  const lines = readFileSync(logFile).subarray(start).toString().split('\n')
  return lines.findLast((line) => line.startsWith('img42 '))?.replace(/^img42 /, '')
}
