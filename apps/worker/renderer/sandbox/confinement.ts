import { spawnSync } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { mallocArenas } from './arenas.ts'

/** What of the sandbox holds. */
export interface Confinement {
  /** The user that the process is; null where the system has no such thing. */
  user: number | null
  /** No file of others can be read, and none written. */
  files: boolean
  /** Nothing can be connected to. */
  network: boolean
  /** No other process can be started. */
  processes: boolean
  /** What it runs cannot gain rights either. */
  noNewPrivileges: boolean
  /** At what size of its data the kernel refuses it more; null: not at all. */
  dataLimitBytes: number | null
  /** How many arenas glibc's malloc has; null where the system does not show it. */
  mallocArenas: number | null
}

/** Who owns nothing, by convention, in every system and container. */
const NOBODY = 65_534

/**
 * Root becomes nobody, of no group. After everything is loaded, because nobody may be unable to enter the folder that
 * the program lies in. Where root may not do that it stays what it is, and {@link confinementOf} tells.
 */
export function dropRoot(): void {
  if (process.getuid?.() !== 0) return
  try {
    process.setgroups?.([])
    process.setgid?.(NOBODY)
    process.setuid?.(NOBODY)
  } catch {}
}

/** Found out by trying: what the system did with a request to confine the process shows in no other way. */
export async function confinementOf(): Promise<Confinement> {
  return {
    user: process.getuid?.() ?? null,
    files: refusedToOpen('/etc/passwd', 'r') && refusedToOpen('/dev/null', 'w'),
    network: await refusedToConnect(),
    processes: refusedToStart(),
    noNewPrivileges: /^NoNewPrivs:\s*1$/m.test(ofItself('status')),
    dataLimitBytes: Number(/^Max data size +(\d+)/m.exec(ofItself('limits'))?.[1] ?? Number.NaN) || null,
    mallocArenas: mallocArenas(),
  }
}

/** What an operator should know is not confined; empty where everything is. */
export function gapsOf(confinement: Confinement): string[] {
  const { user, files, network, processes, noNewPrivileges, dataLimitBytes } = confinement
  return [
    ...(user === 0 ? ['they are root'] : []),
    ...(files ? [] : ['they can open the files that their user can open']),
    ...(network ? [] : ['they can reach the network']),
    ...(processes ? [] : ['they can start other programs']),
    ...(noNewPrivileges ? [] : ['what they start can gain rights']),
    ...(dataLimitBytes ? [] : ['their memory is looked at, ten times a second, not limited']),
  ]
}

function refusedToOpen(path: string, flags: string): boolean {
  try {
    openSync(path, flags)
    return false
  } catch (error) {
    return REFUSED.includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

function refusedToConnect(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: 1 })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(REFUSED.includes(code ?? '')))
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
  })
}

function refusedToStart(): boolean {
  const { error } = spawnSync('/bin/true', { stdio: 'ignore' })
  // Not EACCES: that would be the program's file alone.
  return (error as NodeJS.ErrnoException | undefined)?.code === 'EPERM'
}

/** Empty where there is no `/proc`. */
function ofItself(file: string): string {
  try {
    return readFileSync(`/proc/self/${file}`, 'latin1')
  } catch {
    return ''
  }
}

const REFUSED = ['EACCES', 'EPERM']
