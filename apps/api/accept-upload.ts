import { DependencyError } from '../../core/errors.ts'
import type { Limits } from '../../core/limits.ts'
import { admit } from './admit.ts'
import { refusalOfType } from './declared-type.ts'
import { fingerprint } from './fingerprint.ts'
import { EMPTY_BODY, type Refusal, stoppedBy, tooLarge, UploadAborted, UploadRefused } from './refusal.ts'
import { ReservationLost } from './reservation.ts'
import type { Upload, UploadOutcome, UploadPorts, UploadSettings } from './upload.ts'
import { openIntake } from './upload-intake.ts'

/**
 * Takes an upload in: reserve the key, store the original, commit the job. Nothing is answered `accepted` before the
 * commit, and nothing is committed before the store has the object. What did not come to a commit leaves no job, frees
 * its key, and deletes its object, except where the commit's outcome stays unknown: the orphan sweep decides that
 * later. Killed at any point it leaves at most a reservation that runs out and an object without a job.
 *
 * @param signal ends it where it is; ignored from the commit on
 */
export async function acceptUpload(
  ports: UploadPorts,
  settings: UploadSettings,
  upload: Upload,
  signal: AbortSignal,
): Promise<UploadOutcome> {
  const refusal = refusalByHeaders(settings.limits, upload)
  if (refusal) return { kind: 'refused', refusal }
  try {
    if (upload.key === null) return await admit(ports, settings, upload, null, signal)
    const { tenant, key } = upload
    const reservation = { tenant, key, token: Buffer.from(ports.random.bytes(16)).toString('hex') }
    const reserved = await ports.jobs.reserve({ ...reservation, leaseMs: settings.timing.reservationMs })
    switch (reserved.kind) {
      case 'reserved':
        return await admit(ports, settings, upload, reservation, signal)
      case 'in_progress':
        return reserved
      case 'accepted':
        return await replay(ports, settings, upload, reserved, signal)
    }
  } catch (error) {
    if (error instanceof UploadRefused) return { kind: 'refused', refusal: error.refusal }
    if (error instanceof UploadAborted) return { kind: 'aborted' }
    if (error instanceof DependencyError) return { kind: 'unavailable', jobId: null, error }
    // The other upload has the key now and may be done with it at any time.
    if (error instanceof ReservationLost) return { kind: 'in_progress', retryInMs: 1_000 }
    throw error
  }
}

/** What can be said before a byte was read; a client that waits for `100 Continue` need not send the body then. */
function refusalByHeaders({ maxBytes }: Limits, { declaredType, bytes }: Upload): Refusal | null {
  if (bytes === 0) return EMPTY_BODY
  if (bytes !== null && bytes > maxBytes) return tooLarge(maxBytes, bytes)
  return refusalOfType(declaredType)
}

/**
 * The key has a job: reads the body for its hash alone, and compares. A client that has said the hash and holds the body
 * back is taken at its word: whoever has the key of another request has named that request's bytes, too.
 */
async function replay(
  { jobs, clock }: UploadPorts,
  settings: UploadSettings,
  { body, declaredType, options, announcedSha256, holdsBodyBack }: Upload,
  known: { jobId: string; fingerprint: string },
  signal: AbortSignal,
): Promise<UploadOutcome> {
  const sha256 = holdsBodyBack && announcedSha256 !== null ? announcedSha256 : await readSha256()
  if (fingerprint({ declaredType, sha256, options }) !== known.fingerprint) return { kind: 'key_conflict' }
  const job = await jobs.find(known.jobId)
  // Forgotten a moment ago, and the key with it.
  if (!job) return { kind: 'in_progress', retryInMs: 1_000 }
  return { kind: 'replayed', job }

  async function readSha256(): Promise<string> {
    const intake = openIntake(clock, settings, body, announcedSha256, () => {}, stoppedBy(signal))
    try {
      for await (const _ of intake.chunks);
    } finally {
      intake.close()
    }
    const { sha256, bytes } = intake.sum()
    if (bytes === 0) throw new UploadRefused(EMPTY_BODY)
    return sha256
  }
}
