import { withDeadline } from '../../core/deadline.ts'
import type { Dependency } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Jobs } from '../../core/ports/jobs.ts'
import type { Moderator } from '../../core/ports/moderator.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { Queue } from '../../core/ports/queue.ts'
import type { Timing } from '../../core/timing.ts'

export interface ProbeParts {
  jobs: Jobs
  queue: Queue
  objectStore: ObjectStore
  moderator: Moderator | null
  clock: Clock
  timing: Timing
}

/** The one object that probing writes, over and over. */
const PROBE_KEY = 'probe'

/** Asks a dependency for what an attempt needs of it: of the store a write and a read, because a full one still reads. */
export function createProbe({ jobs, queue, objectStore, moderator, clock, timing }: ProbeParts) {
  return (dependency: Dependency): Promise<void> =>
    withDeadline(clock, timing.callMs, undefined, async (signal) => {
      switch (dependency) {
        case 'database':
          return jobs.ping()
        case 'queue':
          await queue.depth(signal)
          return
        case 'object_store': {
          const body = Buffer.from('probe')
          await objectStore.put(
            { key: PROBE_KEY, body, bytes: body.length, contentType: 'text/plain' },
            signal,
          )
          const stored = await objectStore.get(PROBE_KEY, {}, signal)
          stored?.body.destroy()
          return
        }
        case 'moderation':
          return moderator?.ping(signal)
      }
    })
}
