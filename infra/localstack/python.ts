import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

/** A Python that LocalStack runs on. */
export interface Python {
  /** What stands before the program in a command: nothing, or `chroot` and its folder. */
  into: readonly string[]
  /** The folder that Python takes for `/`. */
  root: string
  interpreter: string
}

/** What LocalStack needs cannot be had on this machine. The message says what is missing. */
export class NotToBeHad extends Error {
  override name = 'NotToBeHad'
}

/**
 * LocalStack 4.14 says that 3.10 is enough, and imports what only 3.13 has (`warnings.deprecated`). The constraints are
 * for 3.13 as well, and no newer one.
 */
const VERSION = '3.13'

/**
 * Python 3.13: the machine's own, or Debian 13's in a folder below `cache`, which takes root and Debian's packages, and
 * leaves the machine as it is.
 *
 * @throws {NotToBeHad}
 */
export function findPython(cache: string, log: (line: string) => void): Python {
  const own = candidates().find(isRight)
  return own ? { into: [], root: '', interpreter: own } : debianPython(path.join(cache, 'debian'), log)
}

function candidates(): string[] {
  const pyenv = path.join(process.env.PYENV_ROOT ?? path.join(homedir(), '.pyenv'), 'versions')
  const versions = existsSync(pyenv) ? readdirSync(pyenv) : []
  return [
    `python${VERSION}`,
    'python3',
    ...versions
      .filter((name) => name.startsWith(VERSION))
      .map((name) => path.join(pyenv, name, 'bin/python3')),
  ]
}

/** Of the right version, and able to make virtual environments. */
function isRight(interpreter: string): boolean {
  const script = `import sys, ensurepip; sys.exit("%d.%d" % sys.version_info[:2] != "${VERSION}")`
  return spawnSync(interpreter, ['-c', script], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

function debianPython(root: string, log: (line: string) => void): Python {
  const python = { into: ['/usr/sbin/chroot', root], root, interpreter: '/usr/bin/python3' }
  if (existsSync(root)) return python
  const missing = `there is no Python ${VERSION} here (python3-venv included)`
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new NotToBeHad(`${missing}, and only root on Linux can make a Debian 13 to have it from`)
  const unfinished = `${root}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const [debootstrap, env] = findDebootstrap(path.join(path.dirname(root), 'debootstrap'), missing)
  log(`${missing}: making a Debian 13 that has it, in ${root} (about a minute)`)
  const { status, stdout } = spawnSync(
    debootstrap,
    ['--variant=minbase', '--include=python3-venv,ca-certificates', 'trixie', unfinished],
    { env: { ...process.env, ...env }, encoding: 'utf8', timeout: 900_000 },
  )
  if (status !== 0) {
    rmSync(unfinished, { recursive: true, force: true })
    const last = stdout?.trim().split('\n').at(-1)
    throw new NotToBeHad(`${missing}, and debootstrap could not make a Debian 13: ${last}`)
  }
  // The machine's way into the network, a proxy's certificate authority included.
  for (const file of ['/etc/resolv.conf', '/etc/ssl/certs/ca-certificates.crt', '/etc/pip.conf'])
    if (existsSync(file)) copyFileSync(file, path.join(unfinished, file))
  renameSync(unfinished, root)
  return python
}

/** The program, and what its environment has to have: the installed one, or Debian's package unpacked into `folder`. */
function findDebootstrap(folder: string, missing: string): [string, Record<string, string>] {
  if (spawnSync('debootstrap', ['--version'], { stdio: 'ignore' }).status === 0) return ['debootstrap', {}]
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const script = 'apt-get update -q && apt-get download -q debootstrap && dpkg -x debootstrap*.deb .'
  const { status } = spawnSync('sh', ['-c', script], { cwd: folder, stdio: 'ignore', timeout: 300_000 })
  if (status !== 0) throw new NotToBeHad(`${missing}, and neither debootstrap nor its package can be had`)
  return [
    path.join(folder, 'usr/sbin/debootstrap'),
    { DEBOOTSTRAP_DIR: path.join(folder, 'usr/share/debootstrap') },
  ]
}
