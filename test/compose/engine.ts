import { spawn, spawnSync } from 'node:child_process'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '../..')
const FILES = ['infra/compose.yaml', 'test/compose/shorter.yaml']

export interface Compose {
  /** Runs `docker compose …` on the project; its output is shown. Rejects when it fails. */
  run(...args: string[]): Promise<void>
  /** The full ids of a service's containers. */
  containers(service: string): string[]
}

/** `docker compose`, or the older `docker-compose`; null where there is neither. */
function composeCommand(): [string, ...string[]] | null {
  if (spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0)
    return ['docker', 'compose']
  return spawnSync('docker-compose', ['version'], { stdio: 'ignore' }).status === 0
    ? ['docker-compose']
    : null
}

/** Whether a container engine answers. */
export function hasEngine(): boolean {
  return spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

/** @returns null without a compose */
export function openCompose(project: string, env: Record<string, string>): Compose | null {
  const found = composeCommand()
  if (!found) return null
  const [command, ...first] = found
  const args = [...first, '--project-name', project, ...FILES.flatMap((file) => ['--file', file])]
  return {
    run: (...more) =>
      new Promise((resolve, reject) => {
        const child = spawn(command, [...args, ...more], {
          cwd: ROOT,
          stdio: ['ignore', 'inherit', 'inherit'],
          env: { ...process.env, ...env },
        })
        child.on('error', reject)
        child.on('exit', (code) =>
          code === 0 ? resolve() : reject(new Error(`compose ${more.join(' ')} ended with ${code}`)),
        )
      }),
    containers: (service) =>
      docker(
        ...['ps', '--all', '--quiet', '--no-trunc'],
        ...['--filter', `label=com.docker.compose.project=${project}`],
        ...['--filter', `label=com.docker.compose.service=${service}`],
      )
        .split('\n')
        .filter(Boolean),
  }
}

/** Runs `docker …` and returns what it wrote. @throws {Error} with its stderr when it fails */
export function docker(...args: string[]): string {
  const { status, signal, error, stdout, stderr } = spawnSync('docker', args, {
    encoding: 'utf8',
    timeout: 280_000,
    maxBuffer: 64_000_000,
  })
  if (status !== 0)
    throw new Error(
      `docker ${args.join(' ')}: ${error ?? `ended with ${status ?? signal}`}: ${stderr?.trim()}`,
    )
  return stdout
}
