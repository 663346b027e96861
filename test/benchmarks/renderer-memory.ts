// What rendering processes take of memory and processors, by allocator: `node test/benchmarks/renderer-memory.ts`. 400
// mixed images, four at once: with glibc's defaults, with two arenas (as the worker runs them), and with jemalloc where
// it is installed. Linux only, for it reads /proc. Ends with 1 when this process, which stands for the worker, grows.
import { existsSync, readFileSync } from 'node:fs'
import { openRenderer } from '../../apps/worker/renderer/pool.ts'
import { ENVIRONMENT } from '../../apps/worker/renderer/sandbox/launch.ts'
import { renderProcessesOf } from '../../apps/worker/renderer/testing/processes.ts'
import { DEFAULT_LIMITS } from '../../core/limits.ts'
import { DEFAULT_PRESET } from '../../core/preset.ts'
import { sharedImages, testImages } from '../images.ts'

const IMAGES = 400
const AT_ONCE = 4
const LIMIT_BYTES = 64_000_000
const PLAN = { preset: DEFAULT_PRESET, strict: false, exposeGps: false }

const JEMALLOC = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/libjemalloc.so.2`)
  .find((file) => existsSync(file))

const ALLOCATORS: [name: string, environment: Record<string, string>][] = [
  ['glibc', {}],
  ['glibc, MALLOC_ARENA_MAX=2', { MALLOC_ARENA_MAX: '2' }],
  ...(JEMALLOC ? [['jemalloc', { LD_PRELOAD: JEMALLOC }] satisfies [string, object]] : []),
]

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`.padStart(8)

function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Processor time of the processes that this one has started and seen end, in hundredths of a second as the kernel counts. */
function endedChildrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** Of all rendering processes. */
function renderersBytes(): number {
  return renderProcessesOf().reduce((sum, pid) => sum + residentBytes(pid), 0)
}

const { images, absent } = sharedImages()
const originals = [...(await testImages()).map(({ bytes }) => bytes), ...images.map((image) => image.read())]
console.log(
  `${IMAGES} of ${originals.length} images (${images.length} real ones, ${absent.length} absent), ${AT_ONCE} at once; ` +
    `memory of ${AT_ONCE} processes together${JEMALLOC ? '' : '; jemalloc is not installed'}`,
)

for (const [name, environment] of ALLOCATORS) {
  for (const variable of ['MALLOC_ARENA_MAX', 'LD_PRELOAD']) delete ENVIRONMENT[variable]
  Object.assign(ENVIRONMENT, environment)
  const ends: Record<string, number> = {}
  const renderer = await openRenderer({
    ...{ concurrency: AT_ONCE, limits: DEFAULT_LIMITS },
    onProcessEnd: ({ killedFor }) => {
      ends[killedFor ?? 'itself'] = (ends[killedFor ?? 'itself'] ?? 0) + 1
    },
  })
  const begin = renderersBytes()
  const cpuBefore = endedChildrenSeconds()
  const idle: number[] = []
  const own: number[] = []
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, renderersBytes())
  }, 50)
  const startedAt = performance.now()
  for (let done = 0; done < IMAGES; done += IMAGES / 4) {
    await renderSome(done, done + IMAGES / 4)
    idle.push(renderersBytes())
    own.push(residentBytes(process.pid))
  }
  const seconds = (performance.now() - startedAt) / 1_000
  clearInterval(sampling)
  const { closed: _, ...replaced } = ends
  await renderer.close()
  const cpu = endedChildrenSeconds() - cpuBefore
  const grown = own.at(-1)! - own[0]!
  console.log(
    `${name.padEnd(26)} begin ${megabytes(begin)}, idle after each hundred ${idle.map(megabytes).join('')}, ` +
      `peak ${megabytes(peak)}; ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of processors; replaced ${JSON.stringify(replaced)}; ` +
      `this process ${own.map(megabytes).join('')}`,
  )
  if (grown > LIMIT_BYTES) process.exitCode = 1

  async function renderSome(from: number, to: number): Promise<void> {
    let next = from
    const one = async () => {
      while (next < to) {
        const bytes = originals[next++ % originals.length]!
        await renderer
          .render({ body: piecesOf(bytes), bytes: bytes.length }, PLAN, new AbortController().signal)
          .catch(() => {})
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
  }
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}
