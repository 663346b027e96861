import type { Limits } from '../../../core/limits.ts'
import type { Renderer } from '../../../core/ports/renderer.ts'
import { residentBytes } from './memory-watch.ts'
import { type ProcessEnd, type RenderProcess, startRenderProcess } from './render-process.ts'
import type { Confinement } from './sandbox/confinement.ts'

export interface RendererOptions {
  /** Images at once, each in a process of its own. */
  concurrency: number
  limits: Limits
  /**
   * What one image may take of memory: the kernel refuses a rendering process more, and one that has more is killed.
   * Defaults to 1.5 GB: of the largest images within the default limits, most take up to 1.1 GB; an AVIF of 10 bits and
   * full chroma takes 24 bytes a pixel.
   */
  memoryBytes?: number
  /** Told of each rendering process that ended, whether on purpose (`killedFor`) or not. */
  onProcessEnd?: (end: ProcessEnd) => void
  /** Told when another process is ready in the place of one that ended, so many milliseconds after that. */
  onReplaced?: (end: ProcessEnd, afterMs: number) => void
}

export interface ProcessRenderer extends Renderer {
  /** What the rendering processes may not do, found out by the first of them. */
  readonly confinement: Confinement
  /** How many rendering processes there are. */
  readonly processes: number
  /** Their memory at this moment, all together. Linux only; 0 elsewhere. */
  residentBytes(): Promise<number>
  /** Ends all rendering processes and resolves when they are gone. Jobs that still run or wait reject. */
  close(): Promise<void>
}

/**
 * The {@link Renderer} that decodes in processes of its own, so that nothing which an image does to its decoder reaches
 * the process that holds leases and credentials. It keeps `concurrency` of them warm: one that crashed, was killed or
 * has done its share is replaced at once. A job that finds all of them busy waits for the first that is free.
 *
 * Resolves when all of them are ready.
 *
 * @throws when a rendering process does not start; `onProcessEnd` was told what it wrote to stderr
 */
export async function openRenderer(options: RendererOptions): Promise<ProcessRenderer> {
  const { concurrency, limits, memoryBytes = 1_500_000_000, onProcessEnd, onReplaced } = options
  const all = new Set<RenderProcess>()
  const idle: RenderProcess[] = []
  const queue: PromiseWithResolvers<RenderProcess>[] = []
  /** The places that no process is ready to fill yet, the longest free one first. */
  const vacancies: { end: ProcessEnd; since: number }[] = []
  let restart: NodeJS.Timeout | undefined
  let closed = false

  function start(): RenderProcess {
    const process = startRenderProcess(memoryBytes)
    all.add(process)
    process.ready.then(
      () => {
        const vacancy = vacancies.shift()
        if (vacancy) onReplaced?.(vacancy.end, Math.round(performance.now() - vacancy.since))
        offer(process)
      },
      () => {},
    )
    process.ended.then((end) => {
      all.delete(process)
      if (end.wasReady) vacancies.push({ end, since: performance.now() })
      onProcessEnd?.(end)
      refill(end.wasReady)
    })
    return process
  }

  /** Starts what is missing; after a pause when the last one died before it could work, as the next one may too. */
  function refill(atOnce: boolean): void {
    if (closed || restart) return
    if (!atOnce) {
      restart = setTimeout(() => {
        restart = undefined
        refill(true)
      }, RESTART_MS)
      return
    }
    try {
      while (all.size < concurrency) start()
    } catch {
      // The system is out of processes or files. Jobs wait meanwhile, each as long as its attempt may take.
      refill(false)
    }
  }

  /** Gives a process that is free to the job that has waited longest. */
  function offer(process: RenderProcess): void {
    const worn = process.jobs >= MAX_JOBS || process.rssBytes > MAX_IDLE_BYTES || process.strained
    if (worn) process.kill('worn')
    if (!process.alive) return
    const next = queue.shift()
    if (next) next.resolve(process)
    else idle.push(process)
  }

  async function take(signal: AbortSignal): Promise<RenderProcess> {
    for (let process = idle.pop(); process; process = idle.pop()) if (process.alive) return process
    const turn = Promise.withResolvers<RenderProcess>()
    const leave = () => {
      const place = queue.indexOf(turn)
      if (place >= 0) queue.splice(place, 1)
      turn.reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    queue.push(turn)
    try {
      return await turn.promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  async function close(): Promise<void> {
    closed = true
    clearTimeout(restart)
    for (const turn of queue.splice(0)) turn.reject(new Error('the renderer is closed'))
    for (const process of all) process.kill('closed')
    await Promise.all([...all].map(({ ended }) => ended))
  }

  let ready: Awaited<RenderProcess['ready']>
  try {
    const first = Array.from({ length: concurrency }, start)
    ;[ready] = (await Promise.all(first.map(({ ready }) => ready))) as [typeof ready]
  } catch (error) {
    await close()
    throw new Error(`a rendering process could not be started: ${(error as Error).message}`, { cause: error })
  }

  return {
    engine: ready.engine,
    confinement: ready.confinement,
    get processes() {
      return all.size
    },
    async residentBytes() {
      const each = await Promise.all([...all].map(({ pid }) => residentBytes(pid)))
      return each.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)
    },
    async render(source, plan, signal) {
      signal.throwIfAborted()
      if (closed) throw new Error('the renderer is closed')
      const process = await take(signal)
      try {
        return await process.render(source, limits, plan, signal)
      } finally {
        offer(process)
      }
    },
    close,
  }
}

/** How many jobs a process does: what leaks in a decoder does not add up. */
const MAX_JOBS = 500
/** What a process may keep between two jobs: fragmentation after a huge image is not to stay for ever. */
const MAX_IDLE_BYTES = 400_000_000
const RESTART_MS = 1_000
