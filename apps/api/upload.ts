import type { Inspector } from '../../core/image/inspector.ts'
import type { Job } from '../../core/job.ts'
import type { Limits } from '../../core/limits.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Admission, Jobs } from '../../core/ports/jobs.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { Random } from '../../core/ports/random.ts'
import type { Timing } from '../../core/timing.ts'
import type { UploadOptions } from './fingerprint.ts'
import type { Refusal } from './refusal.ts'

export interface UploadPorts {
  jobs: Admission & Pick<Jobs, 'find'>
  objectStore: Pick<ObjectStore, 'put' | 'delete'>
  clock: Clock
  random: Random
  createInspector: (limits: Limits) => Inspector
  /** Told of each commit, so that the relay need not wait for its next look. May be lost; must not throw. */
  onAccepted: (jobId: string) => void
}

export interface UploadSettings {
  limits: Limits
  timing: Timing
  /** The longest wait for a client's next bytes, in milliseconds. */
  idleMs: number
}

export interface Upload {
  tenant: string
  /** The idempotency key; null for none. */
  key: string | null
  /** See {@link declaredType}. */
  declaredType: string | null
  /** Valid ones. */
  options: UploadOptions
  /** The body's length, where the request says it. */
  bytes: number | null
  /** Hexadecimal, where the request says it. */
  announcedSha256: string | null
  /** Whether the client sends the body only once it is read, and will not need to where the answer comes first. */
  holdsBodyBack: boolean
  /** Read once, and not begun before the upload is known to be worth it. What it throws means that the client is gone. */
  body: AsyncIterable<Uint8Array>
}

export type UploadOutcome =
  /** Committed: a new job. */
  | { kind: 'accepted'; jobId: string; job: Job }
  /** The key's job, as it stands now; it may be a tombstone. */
  | { kind: 'replayed'; job: Job }
  /** Another upload holds the key. */
  | { kind: 'in_progress'; retryInMs: number }
  /** The key stands for another request. */
  | { kind: 'key_conflict' }
  | { kind: 'refused'; refusal: Refusal }
  /** A dependency failed. `jobId` names a job that may have been accepted all the same; null where none was. */
  | { kind: 'unavailable'; jobId: string | null; error: Error }
  /** The client is gone, or `signal` aborted. */
  | { kind: 'aborted' }
