import { createHash } from 'node:crypto'
import { DeadlineExceeded, withDeadline } from '../../core/deadline.ts'
import { DependencyError, PermanentError } from '../../core/errors.ts'
import type { ImageWarning } from '../../core/image/warnings.ts'
import type { Job, Output } from '../../core/job.ts'
import { outputKey } from '../../core/object-keys.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { RenderedOutput, Renderer } from '../../core/ports/renderer.ts'
import type { Timing } from '../../core/timing.ts'

export interface ImageWorkParts {
  objectStore: ObjectStore
  renderer: Renderer
  clock: Clock
  timing: Timing
}

export interface ImageWorkResult {
  outputs: Output[]
  warnings: ImageWarning[]
}

/**
 * The effect of an attempt: reads the original, renders it, stores the outputs under keys that derive from the job.
 * A second attempt writes the same bytes to the same keys, so that it does not matter how often this is done, or by
 * how many at once.
 *
 * @param signal aborts everything: get, render and put
 */
export async function workOnImage(
  parts: ImageWorkParts,
  job: Job,
  signal: AbortSignal,
): Promise<ImageWorkResult> {
  const { renderer } = parts
  const body = readOriginal(parts, job, signal)
  const { outputs, warnings } = await renderer.render({ body, bytes: job.original.bytes }, signal)
  const stored = await Promise.all(outputs.map((output) => store(parts, job.jobId, output, signal)))
  return { outputs: stored, warnings }
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
  { name, contentType, width, height, body }: RenderedOutput,
  attempt: AbortSignal,
): Promise<Output> {
  const key = outputKey(jobId, name, renderer.engine)
  const bytes = body.byteLength
  try {
    await withDeadline(clock, timing.storeCallMs, attempt, (signal) =>
      objectStore.put({ key, body, bytes, contentType }, signal),
    )
  } catch (error) {
    throw asStoreFailure(error)
  }
  const sha256 = createHash('sha256').update(body).digest('hex')
  return { name, key, contentType, bytes, sha256, width, height }
}

function asStoreFailure(error: unknown): unknown {
  if (!(error instanceof DeadlineExceeded)) return error
  return new DependencyError('object_store', `the object store gave ${error.message}`, { cause: error })
}
