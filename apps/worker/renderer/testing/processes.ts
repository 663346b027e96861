import { readdirSync, readFileSync } from 'node:fs'
import { eventually } from './eventually.ts'

// What Linux tells of a process. Elsewhere there is no /proc, and the tests that need this are skipped.
export const HAS_PROC = process.platform === 'linux'

/** The rendering processes that the process has started and that live. */
export function renderProcessesOf(parent: number = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => stat(pid)?.parent === parent && commandLine(pid).includes('render-child.ts'))
}

/** A process that has ended and that nobody has asked about is gone as well. */
export function isGone(pid: number): boolean {
  const { state } = stat(pid) ?? {}
  return state === undefined || state === 'Z' || state === 'X'
}

/** Resolves once the process computes: it has used a tenth of a second more than when it was asked. */
export async function isComputing(pid: number): Promise<void> {
  const before = stat(pid)?.cpuTicks ?? 0
  await eventually(() => (stat(pid)?.cpuTicks ?? 0) - before).toBeGreaterThan(10)
}

export function environmentOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean).sort()
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function stat(pid: number): { state: string; parent: number; cpuTicks: number } | null {
  try {
    // The command's name, in parentheses, may hold anything.
    const [state, parent, ...more] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return { state: state!, parent: Number(parent), cpuTicks: Number(more[9]) + Number(more[10]) }
  } catch {
    return null
  }
}
