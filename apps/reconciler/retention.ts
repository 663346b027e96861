import { withDeadline } from '../../core/deadline.ts'
import { deleteJobObjects } from '../../core/job-objects.ts'
import { jobIdOfKey, ORIGINALS, OUTPUTS } from '../../core/object-keys.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { Timing } from '../../core/timing.ts'

export interface RetentionParts {
  jobs: Jobs
  objectStore: ObjectStore
  clock: Clock
  timing: Timing
}

/** Jobs that one turn handles at most. */
const MAX_JOBS = 100

/**
 * Finished jobs become tombstones, tombstones lose their objects, old tombstones are forgotten. In this order, and each
 * step again after a crash: an object is deleted only when nobody can be promised it any more, and a row only when
 * its objects are gone.
 */
export async function sweepRetention(parts: RetentionParts): Promise<void> {
  const { jobs, timing } = parts
  await jobs.buryFinished({ ageMs: timing.resultRetentionMs, max: MAX_JOBS })

  const buried = await jobs.tombstonesWithObjects({ max: MAX_JOBS })
  for (const jobId of buried) await deleteObjects(parts, jobId)
  if (buried.length > 0) await jobs.confirmObjectsGone(buried)

  const old = await jobs.oldTombstones({ ageMs: timing.tombstoneRetentionMs, max: MAX_JOBS })
  // Once more: a worker that lost the job to its burial may have stored an output after the objects went.
  for (const jobId of old) await deleteObjects(parts, jobId)
  if (old.length > 0) await jobs.forget(old)

  await jobs.forgetReservations({ ageMs: timing.orphanAgeMs })
}

function deleteObjects({ objectStore, clock, timing }: RetentionParts, jobId: string): Promise<void> {
  return withDeadline(clock, timing.storeCallMs, undefined, (signal) =>
    deleteJobObjects(objectStore, jobId, signal),
  )
}

/**
 * Goes through the stored objects, a page each call, and deletes those that are older than `timing.orphanAgeMs` and
 * whose job has no row: an upload that died between its last byte and its commit. Uploads end well before that age,
 * so no live one is met.
 *
 * @returns a turn, which answers whether there are more objects to look at; after the last it begins anew
 */
export function createOrphanSweep({
  jobs,
  objectStore,
  clock,
  timing,
}: RetentionParts): () => Promise<boolean> {
  const call = <T>(run: (signal: AbortSignal) => Promise<T>) =>
    withDeadline(clock, timing.storeCallMs, undefined, run)
  const prefixes = [ORIGINALS, OUTPUTS] as const
  let place: { prefix: number; after?: string } = { prefix: 0 }
  return async () => {
    const prefix = prefixes[place.prefix] ?? ORIGINALS
    const page = await call((signal) =>
      objectStore.list({ prefix, ...(place.after && { after: place.after }) }, signal),
    )
    const oldest = clock.now() - timing.orphanAgeMs
    const candidates = page.flatMap(({ key, modifiedAt }) => {
      const jobId = modifiedAt.getTime() < oldest ? jobIdOfKey(key) : null
      return jobId ? [{ key, jobId }] : []
    })
    const known = new Set(await jobs.existing(candidates.map(({ jobId }) => jobId)))
    const orphans = candidates.filter(({ jobId }) => !known.has(jobId)).map(({ key }) => key)
    await call((signal) => objectStore.delete(orphans, signal))

    const last = page.at(-1)
    place = last
      ? { prefix: place.prefix, after: last.key }
      : { prefix: (place.prefix + 1) % prefixes.length }
    return last !== undefined || place.prefix !== 0
  }
}
