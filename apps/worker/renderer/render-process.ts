import { spawn } from 'node:child_process'
import type { Duplex, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { PermanentError, WorkError } from '../../../core/errors.ts'
import type { Limits } from '../../../core/limits.ts'
import { orAborted } from '../../../core/or-aborted.ts'
import type { RenderedOutput, Rendering, RenderSource } from '../../../core/ports/renderer.ts'
import { createFrameReader } from './frames.ts'
import { watchMemory } from './memory-watch.ts'
import { ANSWER_LIMITS, type Answer, parseAnswer } from './messages.ts'
import { sendOriginal } from './send-original.ts'

/** A rendering process, as the worker holds it. */
export interface RenderProcess {
  /** Its engine, once it is ready to work. Rejects when it ended before. */
  readonly ready: Promise<string>
  /** Resolves when the process is gone and all that it had said was read. */
  readonly ended: Promise<ProcessEnd>
  /** False from the moment that it is killed. */
  readonly alive: boolean
  /** How many jobs it was given. */
  readonly jobs: number
  /** Its memory after its last job. */
  readonly rssBytes: number
  /** One at a time. Rejects as {@link Renderer.render} does, and kills the process where it cannot go on. */
  render(source: RenderSource, limits: Limits, signal: AbortSignal): Promise<Rendering>
  /** SIGKILL: decoding hears nothing else. */
  kill(why: KillReason): void
}

export interface ProcessEnd {
  /** null when nobody here killed it. */
  killedFor: KillReason | null
  pid: number | undefined
  /** Whether it ever was. */
  wasReady: boolean
  exitCode: number | null
  signal: NodeJS.Signals | null
  /** The end of what it wrote there. */
  stderr: string
}

/**
 * `memory`: it took more than it may. `abandoned`: its job was aborted, or the original could not be read to its end.
 * `nonsense`: it broke the protocol. `worn`: it had done its share of jobs. `closed`: the renderer was closed.
 */
export type KillReason = 'memory' | 'abandoned' | 'nonsense' | 'worn' | 'closed'

type Verdict = Exclude<Answer, { kind: 'hello' }> & { body: Buffer }

/** @throws when the system starts no process */
export function startRenderProcess(memoryBytes: number): RenderProcess {
  const child = spawn(process.execPath, [ENTRY], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: ENVIRONMENT,
    cwd: '/',
  })
  const ready = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<ProcessEnd>()
  let wasReady = false
  let gone = false
  let killedFor: KillReason | null = null
  let jobs = 0
  let rssBytes = 0
  let waiting: PromiseWithResolvers<Verdict> | null = null

  // 'close' rather than 'exit': by then the last that it said was read.
  child.once('close', onEnd)
  child.on('error', () => {
    if (child.pid === undefined) onEnd(null, null)
  })
  const [, , stderr, pipe] = child.stdio as unknown as [null, null, Readable, Duplex]
  const lastWords = keepEnd(stderr)
  // Whoever does not wait for `ready` hears of the end from `ended`.
  ready.promise.catch(() => {})

  const read = createFrameReader(ANSWER_LIMITS, (header, body) => {
    const answer = parseAnswer(header)
    if (answer.kind === 'hello') {
      wasReady = true
      return ready.resolve(answer.engine)
    }
    if (!waiting) throw new Error('an answer to nothing')
    rssBytes = answer.rssBytes
    waiting.resolve({ ...answer, body })
  })
  pipe.on('data', (piece: Buffer) => {
    try {
      read(piece)
    } catch {
      kill('nonsense')
    }
  })
  // A write to a process that has gone fails; that it has gone is heard above.
  pipe.on('error', () => {})

  function onEnd(exitCode: number | null, signal: NodeJS.Signals | null): void {
    if (gone) return
    gone = true
    ended.resolve({ killedFor, pid: child.pid, wasReady, exitCode, signal, stderr: lastWords() })
    const failure = endAsError(killedFor, signal ?? `exit code ${exitCode}`, memoryBytes)
    ready.reject(failure)
    waiting?.reject(failure)
  }

  function kill(why: KillReason): void {
    killedFor ??= why
    child.kill('SIGKILL')
  }

  async function render(source: RenderSource, limits: Limits, signal: AbortSignal): Promise<Rendering> {
    signal.throwIfAborted()
    const verdict = Promise.withResolvers<Verdict>()
    const over = new AbortController()
    const unwatch = watchMemory(child.pid, memoryBytes, () => kill('memory'))
    let begun = false
    const sent = sendOriginal(pipe, source, limits, over.signal, () => {
      begun = true
    })
    waiting = verdict
    jobs += 1
    let answer: Verdict
    try {
      ;[answer] = await orAborted(Promise.all([verdict.promise, sent]), signal)
    } catch (error) {
      // Half an original lies in its pipe, or it works on what nobody waits for any more.
      if (begun) kill('abandoned')
      throw error
    } finally {
      waiting = null
      over.abort()
      unwatch()
    }
    return asRendering(answer)
  }

  return {
    ready: ready.promise,
    ended: ended.promise,
    get alive() {
      return !gone && killedFor === null
    },
    get jobs() {
      return jobs
    },
    get rssBytes() {
      return rssBytes
    },
    render,
    kill,
  }
}

function asRendering(answer: Verdict): Rendering {
  if (answer.kind === 'failed') {
    const { error } = answer
    if (error.class === 'permanent') throw new PermanentError(error.code, error.message)
    throw new WorkError(error.code, error.message)
  }
  let offset = 0
  const outputs = answer.outputs.map(({ bytes, ...output }): RenderedOutput => {
    const body = answer.body.subarray(offset, offset + bytes)
    offset += bytes
    return { ...output, body }
  })
  return { outputs, warnings: answer.warnings }
}

function endAsError(killedFor: KillReason | null, how: string, memoryBytes: number): WorkError {
  switch (killedFor) {
    case 'memory':
      return new WorkError('renderer_killed', `rendering took more than ${memoryBytes} bytes of memory`)
    case null:
    case 'nonsense':
      return new WorkError('renderer_crashed', `the rendering process ended unexpectedly (${how})`)
    default:
      return new WorkError('renderer_killed', 'the rendering process was ended')
  }
}

/** Reads the stream to its end and keeps the last {@link LAST_WORDS} characters of it. */
function keepEnd(stream: Readable): () => string {
  let end = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    end = (end + text).slice(-LAST_WORDS)
  })
  return () => end
}

const ENTRY = fileURLToPath(new URL('render-child.ts', import.meta.url))

/** All that the process gets of the environment: above all no credentials. */
const ENVIRONMENT = {
  // Two malloc arenas instead of eight a core: resident memory levels off at about half.
  MALLOC_ARENA_MAX: '2',
  // It renders one image at a time.
  UV_THREADPOOL_SIZE: '1',
}

const LAST_WORDS = 2_000
