import { readFile } from 'node:fs/promises'

/**
 * Calls `onExceeded` once when the process takes more than `limitBytes` of memory. Looks ten times a second: a decoder
 * fills memory no faster than some 2 GB a second, so that a process is found a few hundred megabytes late at worst.
 * The kernel's limit (sandbox/launch.ts) is exact; this holds where there is none, and for memory that it does not count.
 *
 * Only Linux has `/proc`; elsewhere nothing is watched.
 *
 * @returns what ends the watch
 */
export function watchMemory(
  pid: number | undefined,
  limitBytes: number,
  onExceeded: (rssBytes: number) => void,
): () => void {
  let ended = false
  const timer = setInterval(async () => {
    const rssBytes = await residentBytes(pid)
    if (ended || rssBytes === null || rssBytes <= limitBytes) return
    end()
    onExceeded(rssBytes)
  }, 100)
  timer.unref()

  function end(): void {
    ended = true
    clearInterval(timer)
  }
  return end
}

/** null when it cannot be told: the process is gone, or the platform has no `/proc`. */
export async function residentBytes(pid: number | undefined): Promise<number | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'latin1')
    const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]
    return kilobytes ? Number(kilobytes) * 1024 : null
  } catch {
    return null
  }
}
