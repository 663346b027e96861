import { createHash } from 'node:crypto'
import { DeadlineExceeded, withDeadline } from '../../core/deadline.ts'
import { DependencyError, PermanentError, WorkError } from '../../core/errors.ts'
import type { ImageWarning } from '../../core/image/warnings.ts'
import type { Job, JobResult, Output } from '../../core/job.ts'
import { outputKey } from '../../core/object-keys.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { RenderedOutput, Renderer, Rendering } from '../../core/ports/renderer.ts'
import type { Preset } from '../../core/preset.ts'
import type { Timing } from '../../core/timing.ts'
import { type ModerationParts, moderate } from './moderation.ts'

export interface ImageWorkParts {
  objectStore: ObjectStore
  renderer: Renderer
  clock: Clock
  timing: Timing
  /** Whether a job's result says where its picture was taken. */
  exposeGps: boolean
  /** null: there is no moderator. */
  moderation: ModerationParts | null
}

export interface ImageWorkResult {
  outputs: Output[]
  warnings: ImageWarning[]
  result: JobResult
}

/**
 * The effect of an attempt: reads the original, renders it, asks the moderator, and stores the outputs under keys that
 * derive from the job. What a moderator rejects is never stored. A second attempt writes the same bytes to the same keys,
 * so that it does not matter how often this is done, or by how many at once.
 *
 * @param signal aborts everything: get, render, moderation and put
 */
export async function workOnImage(
  parts: ImageWorkParts,
  job: Job,
  signal: AbortSignal,
): Promise<ImageWorkResult> {
  const { renderer, clock } = parts
  const rendering = await render(parts, job, signal)
  const { warnings, facts, cost } = rendering
  const moderation =
    parts.moderation && (await moderate(parts.moderation, clock, job.jobId, rendering.outputs, signal))
  const toStore = moderation?.verdict === 'rejected' ? [] : rendering.outputs
  const outputs = await Promise.all(toStore.map((output) => store(parts, job.jobId, output, signal)))
  return { outputs, warnings, result: { engine: renderer.engine, facts, cost, moderation } }
}

async function render(parts: ImageWorkParts, job: Job, signal: AbortSignal): Promise<Rendering> {
  const { plan: preset, strict } = job.options
  const source = { body: readOriginal(parts, job, signal), bytes: job.original.bytes }
  const plan = { preset, strict, exposeGps: parts.exposeGps }
  const rendering = await parts.renderer.render(source, plan, signal)
  if (!isWhatWasPlanned(rendering.outputs, preset)) {
    throw new WorkError('internal', 'the renderer made other outputs than were asked for')
  }
  return rendering
}

/** Names become keys and URLs: none that nobody asked for, and none missing. */
function isWhatWasPlanned(rendered: readonly RenderedOutput[], { outputs }: Preset): boolean {
  const planned = new Set(outputs.map(({ name }) => name))
  const made = new Set(rendered.map(({ name }) => name))
  return planned.size === made.size && [...made].every((name) => planned.has(name))
}

/** The original's bytes as they were accepted, or an error: never other bytes, never fewer. */
async function* readOriginal(
  { objectStore, clock, timing }: ImageWorkParts,
  job: Job,
  attempt: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const done = new AbortController()
  const late = new AbortController()
  // One deadline over the whole body: a store that sends a byte a minute is as good as down.
  clock.sleep(timing.storeCallMs, done.signal).then(
    () => late.abort(new DeadlineExceeded(timing.storeCallMs)),
    () => {},
  )
  try {
    const signal = AbortSignal.any([attempt, late.signal])
    const original = await withDeadline(clock, timing.storeCallMs, attempt, () =>
      objectStore.get(job.objectKey, {}, signal),
    )
    if (!original) throw new PermanentError('original_missing', 'the original is not in the object store')
    const hash = createHash('sha256')
    for await (const chunk of original.body) {
      hash.update(chunk)
      yield chunk
    }
    if (hash.digest('hex') !== job.original.sha256) {
      throw new DependencyError('object_store', 'the object store gave other bytes than were accepted')
    }
  } catch (error) {
    throw asStoreFailure(error)
  } finally {
    done.abort()
  }
}

async function store(
  { objectStore, renderer, clock, timing }: ImageWorkParts,
  jobId: string,
  { body, ...output }: RenderedOutput,
  attempt: AbortSignal,
): Promise<Output> {
  const key = outputKey(jobId, output, renderer.engine)
  const bytes = body.byteLength
  try {
    await withDeadline(clock, timing.storeCallMs, attempt, (signal) =>
      objectStore.put({ key, body, bytes, contentType: output.contentType }, signal),
    )
  } catch (error) {
    throw asStoreFailure(error)
  }
  const sha256 = createHash('sha256').update(body).digest('hex')
  return { ...output, key, bytes, sha256 }
}

function asStoreFailure(error: unknown): unknown {
  if (!(error instanceof DeadlineExceeded)) return error
  return new DependencyError('object_store', `the object store gave ${error.message}`, { cause: error })
}
