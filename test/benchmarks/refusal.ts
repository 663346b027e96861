// What refusing an upload costs: `node test/benchmarks/refusal.ts`. Every image that is refused before its job is
// accepted, the project's own and the shared ones that are present, read in pieces of 64 KB as an upload brings them and
// only as far as the verdict needs. Prints CPU and memory of each, and ends with 1 where one is above the limit.
import { readFileSync, writeFileSync } from 'node:fs'
import { createInspector } from '../../core/image/inspector.ts'
import type { Refusal } from '../../core/image/verdict.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import { gifHeader } from '../images/bytes/gif.ts'
import { jpegSegment, SOI } from '../images/bytes/jpeg.ts'
import { png, pngChunk } from '../images/bytes/png.ts'
import { sharedImages, testImages } from '../images.ts'

const LIMIT_MS = 50
const LIMIT_BYTES = 50_000_000
const PIECE_BYTES = 65_536

interface Row {
  name: string
  refusal: Refusal
  readBytes: number
  cpuMs: number
  memoryBytes: number
}

/** null for an image that is accepted. */
function refuse(name: string, image: Buffer): Row | null {
  const memoryBytes = watchPeak()
  const begin = process.cpuUsage()
  const inspector = createInspector(DEFAULT_LIMITS)
  let readBytes = 0
  let refusal: Refusal | null = null
  while (!refusal && readBytes < image.length) {
    const piece = image.subarray(readBytes, readBytes + PIECE_BYTES)
    refusal = inspector.push(piece)
    readBytes += piece.length
  }
  const verdict = refusal ?? inspector.end()
  const { user, system } = process.cpuUsage(begin)
  if (verdict.ok) return null
  return {
    name,
    refusal: verdict,
    readBytes,
    cpuMs: (user + system) / 1_000,
    memoryBytes: memoryBytes(),
  }
}

/** By how much resident memory has risen at most since. Linux only: elsewhere, by how much the highest ever has. */
function watchPeak(): () => number {
  try {
    // Sets the process's high-water mark back to what it takes now.
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    const before = process.resourceUsage().maxRSS
    return () => (process.resourceUsage().maxRSS - before) * 1_024
  }
  const highWater = () => {
    const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
    return Number(kilobytes) * 1_024
  }
  const before = highWater()
  return () => highWater() - before
}

/** Nothing but empty parts, as many as 8 MB hold: what takes the longest to look through. */
const CROWDED: { name: string; bytes: Buffer }[] = [
  {
    name: 'png-of-empty-chunks',
    bytes: png({ width: 9, height: 9 }, repeat(pngChunk('tEXt'))),
  },
  { name: 'jpeg-of-empty-segments', bytes: Buffer.concat([SOI, repeat(jpegSegment(0xe5))]) },
  {
    name: 'gif-of-empty-comments',
    bytes: Buffer.concat([gifHeader(9, 9), repeat(Buffer.from('21fe00', 'hex'))]),
  },
]

function repeat(part: Buffer): Buffer {
  return Buffer.alloc(Math.floor(8_000_000 / part.length) * part.length, part)
}

const { images: shared, absent } = sharedImages()
const all = [
  ...(await testImages()).map(({ name, bytes }) => ({ name, bytes })),
  ...CROWDED,
  ...shared.map((image) => ({ name: image.name, bytes: image.read() })),
]
const rows = all.flatMap(({ name, bytes }) => refuse(name, bytes) ?? [])

for (const { name, refusal, readBytes, cpuMs, memoryBytes } of rows) {
  console.log(
    [
      `${cpuMs.toFixed(1).padStart(6)} ms`,
      `${(memoryBytes / 1e6).toFixed(1).padStart(5)} MB`,
      `${readBytes.toString().padStart(9)} B read`,
      `${refusal.code} (${refusal.fault})`.padEnd(26),
      name,
    ].join('  '),
  )
}
const most = (pick: (row: Row) => number) => Math.max(...rows.map(pick))
const [cpuMs, memoryBytes] = [most((row) => row.cpuMs), most((row) => row.memoryBytes)]
console.log(
  `${rows.length} refusals (shared images: ${shared.length} present, ${absent.length} absent): at most ` +
    `${cpuMs.toFixed(1)} ms of CPU (limit ${LIMIT_MS}) and ${(memoryBytes / 1e6).toFixed(1)} MB (limit ${LIMIT_BYTES / 1e6})`,
)
process.exitCode = cpuMs > LIMIT_MS || memoryBytes > LIMIT_BYTES ? 1 : 0
