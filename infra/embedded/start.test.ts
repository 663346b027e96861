import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

const SAMPLE = path.join(import.meta.dirname, 'sample.jpg')

let dataDir: string
let starts: Start[] = []

/** One folder for all: the tests also show that a start copes with what the one before it left. */
beforeAll(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'img42-start-'))
  chmodSync(dataDir, 0o755)
})

async function endAll(): Promise<void> {
  for (const { launcher } of starts) launcher.kill('SIGKILL')
  starts = []
  await waitForEnd()
}

afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

interface Start {
  launcher: ChildProcess
  exitCode: Promise<number | null>
  output(): string
  /** The first match in what was printed, as soon as there is one. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>
}

/** `npm start -- <args>` on any free port, with leases that are soon over. */
function start(args: string[], env: Record<string, string> = {}): Start {
  // The embedded default, whatever the other tests are run against.
  const none = { DATABASE_URL: '', QUEUE_URL: '', S3_BUCKET: '', AWS_ENDPOINT_URL: '' }
  const launcher = spawn(process.execPath, [path.join(import.meta.dirname, 'start.ts'), ...args], {
    env: { ...process.env, ...none, ...SOON, DATA_DIR: dataDir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [launcher.stdout, launcher.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const started = {
    launcher,
    exitCode: once(launcher, 'close').then(([code]) => code),
    output: () => output,
    printed: (pattern: RegExp) =>
      vi.waitFor(() => output.match(pattern) ?? expect.fail(`not printed: ${pattern}, but: ${output}`), {
        timeout: 50_000,
        interval: 20,
      }),
  }
  starts.push(started)
  return started
}

const SOON = {
  HEARTBEAT_MS: '500',
  CALL_MS: '1900',
  LEASE_MS: '2000',
  VISIBILITY_SECONDS: '2',
  GRACE_MS: '4000',
}

/** Launcher, apps, guardian and Postgres: who has the data directory in its environment or its command line. */
function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => ['environ', 'cmdline'].some((file) => readProc(pid, file).includes(dataDir)))
    .map(Number)
}

function processOf(app: string): number | undefined {
  return processes().find((pid) => readProc(pid, 'cmdline').includes(`apps/${app}/main.ts`))
}

function readProc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function waitForEnd(): Promise<void> {
  return vi.waitFor(() => expect(processes()).toEqual([]), { timeout: 50_000, interval: 50 })
}

/** The story's lines look like `+0.012 s  claimed  …`. */
function eventsIn(output: string): string[] {
  return [...output.matchAll(/\+\d+\.\d{3} s +(\w+)/g)].map(([, event]) => event!)
}

async function upload(apiUrl: string): Promise<string> {
  const answer = await fetch(`${apiUrl}/v1/images`, { method: 'POST', body: readFileSync(SAMPLE) })
  expect(answer.status).toBe(202)
  return answer.headers.get('location')!
}

async function bytesOf(url: string): Promise<Buffer> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

const API_URL = /api +(http:\S+)/
const THUMBNAIL = /succeeded +(\S+\/v1\/images\/img_\w+\/thumbnail)/

describe.runIf(process.platform === 'linux')('npm start', () => {
  afterEach(endAll)

  test('--once tells the sample image’s story, exits with 0 and leaves nothing running', async () => {
    const { exitCode, output } = start(['--once'])
    expect(await exitCode, output()).toBe(0)
    expect(eventsIn(output())).toEqual(['accepted', 'published', 'claimed', 'succeeded'])
    expect(output()).toMatch(THUMBNAIL)
    expect(output()).toMatch(/curl -i --data-binary @\S+sample\.jpg/)
    expect(processes()).toEqual([])
  })

  test('--emulate-aws tells the same story over SQS and S3', async () => {
    const { exitCode, output } = start(['--once', '--emulate-aws'])
    expect(await exitCode, output()).toBe(0)
    expect(output()).toMatch(/queue +SQS, emulated/)
    expect(output()).toMatch(/objects +S3, emulated/)
    expect(eventsIn(output())).toEqual(['accepted', 'published', 'claimed', 'succeeded'])
    expect(processes()).toEqual([])
  })

  test('a killed launcher leaves no child', async () => {
    const { launcher, printed } = start([])
    await printed(API_URL)
    const everybody = ['api', 'worker', 'reconciler'].map(processOf)
    expect(everybody).not.toContain(undefined)
    launcher.kill('SIGKILL')
    await waitForEnd()
  })

  test('after kill -9 of everything, accepted jobs finish and results stay readable', async () => {
    const first = start([])
    const [, thumbnailUrl] = await first.printed(THUMBNAIL)
    const thumbnail = await bytesOf(thumbnailUrl!)
    const [, firstUrl] = await first.printed(API_URL)
    const locations = await Promise.all(Array.from({ length: 6 }, () => upload(firstUrl!)))
    for (const pid of processes()) process.kill(pid, 'SIGKILL')
    await first.exitCode

    const second = start([])
    const [, apiUrl] = await second.printed(API_URL)
    for (const location of locations) {
      await vi.waitFor(
        async () =>
          expect(await (await fetch(apiUrl + location)).json()).toMatchObject({ status: 'SUCCEEDED' }),
        { timeout: 50_000, interval: 100 },
      )
    }
    expect(await bytesOf(apiUrl + new URL(thumbnailUrl!).pathname)).toEqual(thumbnail)
  }, 150_000)

  test('a taken port is said in one sentence', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { exitCode, output } = start([], { PORT: String(port) })
    expect(await exitCode).toBe(1)
    expect(output()).toBe(`img42: port ${port} of 127.0.0.1 is taken: set PORT to another\n`)
    server.close()
  })

  test('so is a port for metrics that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { exitCode, output } = start([], { METRICS_PORT: String(port) })
    expect(await exitCode).toBe(1)
    expect(output()).toBe(`img42: port ${port} of 127.0.0.1 is taken: set METRICS_PORT to another\n`)
    server.close()
  })

  test('an unknown argument is named, and the exit code is 2', async () => {
    const { exitCode, output } = start(['--twice', '--once'])
    expect(await exitCode).toBe(2)
    expect(output()).toMatch(/^img42: unknown argument --twice\. .+\n$/)
  })

  test('--emulate-aws refuses to mix its parts with others', async () => {
    const { exitCode, output } = start(['--emulate-aws'], { DATABASE_URL: 'postgres://localhost/img42' })
    expect(await exitCode).toBe(2)
    expect(output()).toMatch(/unset DATABASE_URL/)
  })

  test('a wrong variable is named before anything is started', async () => {
    const { exitCode, output } = start([], { PORT: 'eighty' })
    expect(await exitCode).toBe(1)
    expect(output()).toMatch(/^img42: PORT .+\n$/)
  })
})

describe.runIf(process.platform === 'linux')('npm start, while it is up', () => {
  let up: Start
  let apiUrl: string

  beforeAll(async () => {
    up = start([])
    await up.printed(/Ctrl-C stops it/)
    apiUrl = (await up.printed(API_URL))[1]!
  })
  afterAll(endAll)

  test('a second start on the same folder is refused, and says which process holds it', async () => {
    const second = start([])
    expect(await second.exitCode).toBe(1)
    expect(second.output()).toMatch(
      new RegExp(`^img42: \\S+ is in use by process ${up.launcher.pid}\\. .+\\n$`),
    )
  })

  test.each(['api', 'worker', 'reconciler'])(
    '%s, when it dies, is started again, and that is said',
    async (app) => {
      process.kill(processOf(app)!, 'SIGKILL')
      await up.printed(new RegExp(`${app} ended \\(killed by SIGKILL\\) and is started again`))
      await vi.waitFor(() => expect(processOf(app)).toBeDefined(), { timeout: 30_000, interval: 20 })
    },
  )

  test('what died and was started again still does its work, at the same address', async () => {
    const location = await vi.waitFor(() => upload(apiUrl), { timeout: 30_000, interval: 100 })
    await vi.waitFor(
      async () =>
        expect(await (await fetch(apiUrl + location)).json()).toMatchObject({ status: 'SUCCEEDED' }),
      { timeout: 50_000, interval: 100 },
    )
  })

  test('SIGTERM stops everything in order, with exit code 0', async () => {
    up.launcher.kill('SIGTERM')
    expect(await up.exitCode, up.output()).toBe(0)
    expect(processes()).toEqual([])
    // Postgres, the last one, had the time to put its things away.
    expect(existsSync(path.join(dataDir, 'postgres', 'data', 'postmaster.pid'))).toBe(false)
  })
})
