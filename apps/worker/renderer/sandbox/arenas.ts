import { readFileSync } from 'node:fs'

/** As many as `ENVIRONMENT` of launch.ts asks for; what they save is measured in docs/sandbox.md. */
export const WANTED_ARENAS = 2

const HEAP_BYTES = 0x4000000n
const RANGE = /^([0-9a-f]+)-([0-9a-f]+) (\S+) 00000000 00:00 0/

/**
 * How many arenas glibc's malloc has in a process that has just started, the first included. Of any later one the
 * kernel shows a heap: 64 MiB at a multiple of 64 MiB, writable as far as it is used, and forbidden from there on. 1
 * for another libc or malloc, which have no such heaps; null where the kernel does not say.
 *
 * @param maps `/proc/<pid>/maps`
 */
export function mallocArenas(maps = ownMaps()): number | null {
  if (maps === null) return null
  const ranges = maps.split('\n').map((line) => {
    const [, from, to, access] = RANGE.exec(line) ?? []
    return from && to ? { from: BigInt(`0x${from}`), to: BigInt(`0x${to}`), access } : null
  })
  const heaps = ranges.filter((range, i) => {
    const rest = ranges[i + 1]
    if (range?.access !== 'rw-p' || range.from % HEAP_BYTES !== 0n) return false
    return rest?.access === '---p' && rest.from === range.to && rest.to === range.from + HEAP_BYTES
  })
  return 1 + heaps.length
}

/**
 * The worker's memory is planned with {@link WANTED_ARENAS}, and nothing else would show that the setting was lost.
 *
 * @throws {Error} when there are more
 */
export function assertArenas(arenas: number | null): void {
  if (arenas === null || arenas <= WANTED_ARENAS) return
  throw new Error(
    `a rendering process has ${arenas} malloc arenas; MALLOC_ARENA_MAX=${WANTED_ARENAS} had no effect on it`,
  )
}

function ownMaps(): string | null {
  try {
    return readFileSync('/proc/self/maps', 'utf8')
  } catch {
    return null
  }
}
