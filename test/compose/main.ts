// `npm run test:compose`: brings infra/compose.yaml up as a project of its own, on a port of its own, runs the contract
// tests and test/compose/*.test.ts against the published port, and takes everything down again, whatever happened.
// Without a container engine, or without the images that it builds on, it says so and ends with 0.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../infra/free-port.ts'
import { docker, hasEngine, openCompose } from './engine.ts'

const root = path.resolve(import.meta.dirname, '../..')
const project = `img42-test-${randomBytes(4).toString('hex')}`
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const env = { PUBLISHED_PORT: String(port), AUTH: 'keys', COMPOSE_PROJECT_NAME: project }
let current: ChildProcess | null = null
const say = (line: string) => console.log(`test:compose: ${line}`)

const obstacle = findObstacle()
const compose = obstacle ? null : openCompose(project, env)
if (compose) process.exitCode = await testOn(compose)
else
  say(`LEFT OUT – ${obstacle ?? 'there is neither "docker compose" nor docker-compose'}. Nothing was tested.`)

function findObstacle(): string | null {
  if (!hasEngine()) return 'no container engine answers (docker info)'
  for (const name of baseImages()) {
    try {
      docker('image', 'inspect', name)
    } catch {
      say(`fetching ${name}`)
      try {
        docker('pull', '--quiet', name)
      } catch {
        return `the engine has no image ${name} and reaches no registry: "npm run images:local" makes it`
      }
    }
  }
  return null
}

/** Under which the Dockerfile and the compose file begin, but for the services of a profile, which are not started here. */
function baseImages(): string[] {
  const [dockerfile, services] = ['infra/Dockerfile', 'infra/compose.yaml'].map((file) =>
    readFileSync(path.join(root, file), 'utf8'),
  )
  const started = services!.split(/^ {2}(?=\w)/m).filter((service) => !/^ {4}profiles:/m.test(service))
  const named = [dockerfile!, ...started].join('\n').matchAll(/^\s*(?:FROM|image:)\s+(\S+:\S+)/gm)
  return [...new Set([...named].map(([, name]) => name!))]
}

async function testOn({ run, containers }: NonNullable<typeof compose>): Promise<number> {
  const down = () => run('down', '--volumes', '--remove-orphans', '--timeout', '20')
  let stopped = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      stopped = true
      current?.kill(signal)
    })
  try {
    await run('build')
    await run('up', '--detach')
    await untilHealthy(['api', 'worker', 'reconciler'].flatMap(containers))
    say(`${project} is up; the API answers on ${url}`)
    const [api] = containers('api')
    const makeKey = (tenant: string) => {
      const limits = ['--rate', '100000', '--burst', '100000', '--in-flight', '100000']
      const made = docker(
        'exec',
        api!,
        'node',
        'apps/cli/main.ts',
        'keys',
        'create',
        '--tenant',
        tenant,
        ...limits,
      )
      return /img42_\S+/.exec(made)![0]
    }
    const keys = { IMG42_URL: url, IMG42_KEY: makeKey('compose-a'), IMG42_OTHER_KEY: makeKey('compose-b') }
    const codes: number[] = []
    for (const args of [
      ['--config', 'vitest.contract.config.ts', 'test/contract'],
      ['--config', 'vitest.compose.config.ts'],
    ])
      if (!stopped) codes.push(await vitest(args, keys))
    return stopped ? 1 : Math.max(...codes)
  } finally {
    await down()
    say(`${project} is down`)
  }
}

/** @throws {Error} with a container's log when it is not healthy within two minutes */
async function untilHealthy(ids: string[]): Promise<void> {
  const until = Date.now() + 120_000
  for (const id of ids)
    while (docker('inspect', '--format', '{{.State.Health.Status}}', id).trim() !== 'healthy') {
      if (Date.now() > until)
        throw new Error(`a container is not healthy:\n${docker('logs', '--tail', '20', id)}`)
      await delay(500)
    }
}

async function vitest(args: string[], more: Record<string, string>): Promise<number> {
  current = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env, ...more },
  })
  const [code] = (await once(current, 'exit')) as [number | null]
  current = null
  return code ?? 1
}
