import { setTimeout as delay } from 'node:timers/promises'
import { renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import { type AppName, type AppProcess, startApp } from '../end-to-end/app-process.ts'
import type { AwsFront } from './aws-front.ts'
import type { TcpProxy } from './tcp-proxy.ts'

export type Service = 'postgres' | 'sqs' | 's3'

/** One process of the service, started again whenever it is gone, as a platform does it. */
export interface SupervisedApp {
  name: string
  kind: AppName
  /** Between it and each service. */
  proxies: Record<Service, TcpProxy>
  /** The running process; null between two. */
  current(): AppProcess | null
  /** A fault has its hands on it. */
  busy: boolean
  /** SIGKILL. False when there was nothing to kill. */
  kill(): boolean
  /** SIGTERM, and a new one in its place. */
  deploy(): Promise<void>
  /** SIGSTOP for so long, then SIGCONT. */
  freeze(ms: number): Promise<void>
  /** SIGKILL to one of its rendering processes. */
  killRenderer(): boolean
  /** For good. */
  stop(): Promise<void>
}

export interface Supervision {
  name: string
  kind: AppName
  proxies: Record<Service, TcpProxy>
  front: AwsFront
  env: () => Record<string, string>
  onStarted: (app: AppProcess) => void
  /** Told what ought not to happen, whatever the fault: an end that nobody asked for, an error in the log. */
  onUnexpected: (sentence: string) => void
}

export function superviseApp(parts: Supervision): SupervisedApp {
  const { name, kind, proxies, env, onStarted, onUnexpected } = parts
  let app: AppProcess | null = null
  let asked = false
  let stopping = false

  async function supervise(): Promise<void> {
    while (!stopping) {
      // What cannot start while its dependencies are away says so and ends; the platform tries again.
      const started = await startApp(kind, env()).catch(() => null)
      if (!started) {
        await delay(500)
        continue
      }
      asked = false
      if (stopping) {
        await started.kill()
        break
      }
      app = started
      onStarted(started)
      const code = await started.ended
      app = null
      reportErrors(started)
      if (!asked && !stopping)
        onUnexpected(
          `${name} ended by itself, exit code ${code}, after ${JSON.stringify(started.lines.at(-1))}`,
        )
    }
  }
  const supervised = supervise()

  function reportErrors({ lines }: AppProcess): void {
    for (const line of lines) {
      if (line.level === 'error' || line.level === 'fatal') {
        onUnexpected(`${name} logged: ${JSON.stringify(line).slice(0, 1_000)}`)
      }
    }
  }

  return {
    name,
    kind,
    proxies,
    current: () => app,
    busy: false,
    kill() {
      if (!app) return false
      asked = true
      process.kill(app.pid, 'SIGKILL')
      return true
    },
    async deploy() {
      if (!app) return
      asked = true
      const code = await app.stop()
      if (code !== 0 && code !== null) onUnexpected(`${name} stopped with exit code ${code}`)
    },
    async freeze(ms) {
      const frozen = app
      if (!frozen) return
      process.kill(frozen.pid, 'SIGSTOP')
      await delay(ms)
      if (frozen === app) process.kill(frozen.pid, 'SIGCONT')
    },
    killRenderer() {
      const [pid] = app ? renderProcessesOf(app.pid) : []
      if (pid === undefined) return false
      process.kill(pid, 'SIGKILL')
      return true
    },
    async stop() {
      stopping = true
      await app?.kill()
      await supervised
      parts.front.close()
      await Promise.all(Object.values(proxies).map((proxy) => proxy.close()))
    },
  }
}
