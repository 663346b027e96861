import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { findPython, NotToBeHad, type Python } from './python.ts'

/** The last version that starts without an account. */
export const LOCALSTACK_VERSION = '4.14.0'

const CONSTRAINTS = path.join(import.meta.dirname, 'constraints.txt')
const CACHE = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'img42', 'localstack')

/**
 * LocalStack from PyPI, in a virtual environment that is kept in the user's cache and made anew when what it is made of
 * has changed.
 *
 * @returns the Python that has it
 * @throws {NotToBeHad} without Python 3.13 or PyPI
 * @throws {Error} when PyPI answers and the installation fails
 */
export function installLocalStack(log: (line: string) => void): Python {
  mkdirSync(CACHE, { recursive: true })
  const python = findPython(CACHE, log)
  const hash = createHash('sha256').update(LOCALSTACK_VERSION).update(readFileSync(CONSTRAINTS)).digest('hex')
  const folder = python.root === '' ? CACHE : '/opt'
  // An environment knows its own place, and cannot be renamed once it is whole: a marker says that it is.
  const environment = `${folder}/environment-${hash.slice(0, 12)}`
  const marker = path.join(python.root, environment, 'whole')
  const installed = { ...python, interpreter: `${environment}/bin/python` }
  if (existsSync(marker)) return installed

  log(`installing localstack-core ${LOCALSTACK_VERSION} with ${python.root}${python.interpreter}`)
  rmSync(path.join(python.root, environment), { recursive: true, force: true })
  run(python, ['-m', 'venv', environment])
  const constraints = `${environment}/constraints.txt`
  copyFileSync(CONSTRAINTS, path.join(python.root, constraints))
  const wanted = `localstack-core[runtime]==${LOCALSTACK_VERSION}`
  const install = ['-m', 'pip', 'install', '--quiet', '--no-cache-dir', '--constraint', constraints, wanted]
  const errors = run(installed, install)
  if (errors) {
    // Asked for a version that there is, pip has heard of none at all: it reached no index.
    if (/\(from versions: none\)|ConnectionError|Max retries exceeded/.test(errors))
      throw new NotToBeHad(`PyPI cannot be reached: ${errors.trim().split('\n').at(-1)}`)
    throw new Error(`LocalStack could not be installed:\n${errors}`)
  }
  renameSync(path.join(python.root, constraints), marker)
  return installed
}

/** @returns what it wrote to stderr, if it failed */
function run({ into, interpreter }: Python, args: readonly string[]): string | null {
  const [command = '', ...rest] = [...into, interpreter, ...args]
  const { status, stderr, error } = spawnSync(command, rest, { encoding: 'utf8', timeout: 900_000 })
  return status === 0 ? null : stderr || String(error ?? `it ended with ${status}`)
}
