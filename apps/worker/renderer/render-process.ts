import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Duplex, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { PermanentError, WorkError } from '../../../core/errors.ts'
import type { Limits } from '../../../core/limits.ts'
import { orAborted } from '../../../core/or-aborted.ts'
import type { RenderedOutput, Rendering, RenderPlan, RenderSource } from '../../../core/ports/renderer.ts'
import { createFrameReader } from './frames.ts'
import { watchMemory } from './memory-watch.ts'
import { ANSWER_LIMITS, type Answer, parseAnswer } from './messages.ts'
import { saysOutOfMemory, systemKills } from './out-of-memory.ts'
import type { Confinement } from './sandbox/confinement.ts'
import { ENVIRONMENT, launchOf } from './sandbox/launch.ts'
import { sendOriginal } from './send-original.ts'

/** A rendering process, as the worker holds it. */
export interface RenderProcess {
  /** Once it is ready to work. Rejects when it ended before, with what it said. */
  readonly ready: Promise<{ engine: string; confinement: Confinement }>
  /** Resolves when the process is gone and all that it had said was read. */
  readonly ended: Promise<ProcessEnd>
  /** False from the moment that it is killed. */
  readonly alive: boolean
  readonly pid: number | undefined
  /** How many jobs it was given. */
  readonly jobs: number
  /** Its memory after its last job. */
  readonly rssBytes: number
  /** Whether it ever came near its limit of memory. */
  readonly strained: boolean
  /** One at a time. Rejects as {@link Renderer.render} does, and kills the process where it cannot go on. */
  render(source: RenderSource, limits: Limits, plan: RenderPlan, signal: AbortSignal): Promise<Rendering>
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
  /** Whether it ended for want of memory, whoever noticed. */
  outOfMemory: boolean
  /** From the kill until it was gone; null when nobody here killed it. */
  goneAfterMs: number | null
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
  const { command, args } = launchOf(ENTRY, memoryBytes)
  const child = spawn(command, args, {
    // The last one is its leash: nothing is ever written there, and it is killed when this end of it closes.
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: ENVIRONMENT,
    cwd: '/',
  })
  becomesFirstVictim(child.pid)
  const systemKillsBefore = systemKills()
  const ready = Promise.withResolvers<{ engine: string; confinement: Confinement }>()
  const ended = Promise.withResolvers<ProcessEnd>()
  let wasReady = false
  let gone = false
  let killedFor: KillReason | null = null
  let killedAt: number | null = null
  let jobs = 0
  let rssBytes = 0
  let strained = false
  let waiting: PromiseWithResolvers<Verdict> | null = null

  // 'close' rather than 'exit': by then the last that it said was read.
  child.once('close', onEnd)
  child.on('error', () => {
    if (child.pid === undefined) onEnd(null, null)
  })
  const [, , stderr, pipe, leash] = child.stdio as unknown as [null, null, Readable, Duplex, Duplex]
  const lastWords = keepEnd(stderr)
  // Whoever does not wait for `ready` hears of the end from `ended`.
  ready.promise.catch(() => {})

  const read = createFrameReader(ANSWER_LIMITS, (header, body) => {
    const answer = parseAnswer(header)
    if (answer.kind === 'hello') {
      wasReady = true
      return ready.resolve(answer)
    }
    if (!waiting) throw new Error('an answer to nothing')
    ;({ rssBytes, strained } = answer)
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
  leash.on('error', () => {}).resume()

  function onEnd(exitCode: number | null, signal: NodeJS.Signals | null): void {
    if (gone) return
    gone = true
    const end: ProcessEnd = {
      ...{ killedFor, pid: child.pid, wasReady, exitCode, signal, stderr: lastWords() },
      outOfMemory: false,
      goneAfterMs: killedAt === null ? null : Math.round(performance.now() - killedAt),
    }
    // The system kills for memory too, and so does a program that gets none.
    const killedBySystem = signal === 'SIGKILL' && systemKills() > systemKillsBefore
    end.outOfMemory =
      killedFor === 'memory' || (killedFor === null && (killedBySystem || saysOutOfMemory(end.stderr)))
    ended.resolve(end)
    ready.reject(new Error(sentenceOf(end)))
    waiting?.reject(endAsError(end, memoryBytes))
  }

  function kill(why: KillReason): void {
    killedFor ??= why
    killedAt ??= performance.now()
    child.kill('SIGKILL')
  }

  async function render(
    source: RenderSource,
    limits: Limits,
    plan: RenderPlan,
    signal: AbortSignal,
  ): Promise<Rendering> {
    signal.throwIfAborted()
    const verdict = Promise.withResolvers<Verdict>()
    const over = new AbortController()
    const unwatch = watchMemory(child.pid, memoryBytes, () => kill('memory'))
    let begun = false
    const sent = sendOriginal(pipe, source, limits, plan, over.signal, () => {
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
    pid: child.pid,
    get alive() {
      return !gone && killedFor === null
    },
    get jobs() {
      return jobs
    },
    get rssBytes() {
      return rssBytes
    },
    get strained() {
      return strained
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
  const { warnings, facts, cost } = answer
  return { outputs, warnings, facts, cost }
}

function endAsError({ killedFor, outOfMemory, signal, exitCode }: ProcessEnd, memoryBytes: number): Error {
  if (outOfMemory) {
    return new WorkError('renderer_out_of_memory', `rendering takes more than ${memoryBytes} bytes of memory`)
  }
  if (killedFor === null || killedFor === 'nonsense') {
    const how = signal ?? `exit code ${exitCode}`
    return new WorkError('renderer_crashed', `the rendering process ended unexpectedly (${how})`)
  }
  return new Error('the rendering process was ended')
}

/** What it said of itself: the error, where Node wrote the place before it and the stack behind. */
function sentenceOf({ stderr, signal, exitCode }: ProcessEnd): string {
  const said = /^\w*Error.*$/m.exec(stderr)?.[0] ?? stderr.trim().split('\n').at(-1)
  return said || `it ended (${signal ?? `exit code ${exitCode}`})`
}

/** When the machine runs out of memory, the kernel kills this process rather than the worker. Linux only. */
function becomesFirstVictim(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  } catch {}
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

const LAST_WORDS = 2_000
