import { readFileSync } from 'node:fs'

/**
 * Whether these are the words of a program that got no memory: of libvips, GLib, libjpeg, libheif, C++, V8 or Node, in
 * an error or as the last that it wrote before it ended itself. Not libtiff's: it says so of a damaged directory.
 */
export function saysOutOfMemory(words: string): boolean {
  return OUT_OF_MEMORY.test(words)
}

const OUT_OF_MEMORY = new RegExp(
  [
    /vips_tracked: out of memory/,
    /Insufficient memory \(case/,
    /Memory allocation error(?!.*limit)/,
    /failed to allocate (?:\d+ bytes|memory(?! for to read TIFF))/,
    /bad_alloc/,
    /heap out of memory|OOM error|process out of memory/,
    /(?:array buffer|memory) allocation failed/,
    /cannot allocate memory/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

/** How many processes the kernel has ended for want of memory since the machine started; 0 where it does not tell. */
export function systemKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/**
 * Whether this process ever came near its limit. A failure to decode then says nothing sure of the image: a decoder that
 * gets no memory often says that the file is damaged. Half of what it may take is near: what was refused is not in the
 * peak, and a single allocation can be large.
 *
 * @param dataLimitBytes at which the kernel refuses more; null: nothing is ever refused
 * @returns what tells, from what the process has at the time of the call
 */
export function watchStrain(dataLimitBytes: number | null): () => boolean {
  if (dataLimitBytes === null) return () => false
  const mapped = ofItself('VmSize')
  const room = dataLimitBytes - ofItself('VmData')
  return () => ofItself('VmPeak') - mapped > room / 2
}

function ofItself(name: 'VmSize' | 'VmData' | 'VmPeak'): number {
  const status = readFileSync('/proc/self/status', 'latin1')
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
}
