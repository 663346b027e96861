import { readFileSync } from 'node:fs'

/**
 * The highest resident memory of this process so far, in bytes. From `/proc` where there is one: what the system counts
 * otherwise begins with the memory of the process that started this one.
 */
export function peakRssBytes(): number {
  try {
    const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
    if (kilobytes) return Number(kilobytes) * 1024
  } catch {}
  return process.resourceUsage().maxRSS * 1024
}
