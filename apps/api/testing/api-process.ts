import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface ApiProcess {
  url: string
  port: number
  child: ChildProcess
  dataDir: string
  /** Asks it to stop and gives its exit code. */
  stop(): Promise<number | null>
}

/** Starts the API as users do, as a process of its own on a free port, its objects in a new folder or in `dataDir`. */
export async function startApiProcess(
  databaseUrl: string,
  { dataDir, env = {} }: { dataDir?: string; env?: Record<string, string> } = {},
): Promise<ApiProcess> {
  const folder = dataDir ?? (await mkdtemp(path.join(tmpdir(), 'img42-api-')))
  const child = fork(path.join(import.meta.dirname, '../main.ts'), {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const [message] = (await Promise.race([once(child, 'message'), exited])) as [{ listening?: number }]
  const port = message?.listening
  if (port === undefined) throw new Error(`the API did not start: exit code ${message}`)
  return {
    ...{ port, child, dataDir: folder, url: `http://127.0.0.1:${port}` },
    async stop() {
      child.kill('SIGTERM')
      const [code] = await exited
      if (!dataDir) await rm(folder, { recursive: true, force: true })
      return code
    },
  }
}
