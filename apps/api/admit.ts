import { withDeadline } from '../../core/deadline.ts'
import { DependencyError } from '../../core/errors.ts'
import type { ImageFacts } from '../../core/image/verdict.ts'
import type { ImageWarning } from '../../core/image/warnings.ts'
import type { Job } from '../../core/job.ts'
import { mintJobId } from '../../core/job-id.ts'
import { acceptedJob } from '../../core/new-job.ts'
import { originalKey } from '../../core/object-keys.ts'
import type { NewJob, Reservation } from '../../core/ports/jobs.ts'
import { activeTraceparent } from '../../infra/tracing/spans.ts'
import { fingerprint } from './fingerprint.ts'
import { stoppedBy, UploadRefused } from './refusal.ts'
import { keepReservation, ReservationLost } from './reservation.ts'
import { settleUnknownCommit } from './unknown-commit.ts'
import type { Upload, UploadOutcome, UploadPorts, UploadSettings } from './upload.ts'
import { type Intake, openIntake } from './upload-intake.ts'

/**
 * Stores the original of an upload that may become a new job, and commits the job.
 *
 * @param reservation of the upload's key; released by whatever comes to no commit
 * @throws {UploadRefused} | {UploadAborted} | {ReservationLost} | {DependencyError}, all of them after cleaning up
 */
export async function admit(
  ports: UploadPorts,
  settings: UploadSettings,
  upload: Upload,
  reservation: Reservation | null,
  signal: AbortSignal,
): Promise<UploadOutcome> {
  const jobId = mintJobId(ports.clock, ports.random)
  const stop = stoppedBy(signal)
  const stored = new AbortController()
  const found: { facts?: ImageFacts } = {}
  const inspector = ports.createInspector(settings.limits)
  const inspect = (chunk: Uint8Array | null) => {
    const verdict = chunk ? inspector.push(chunk) : inspector.end()
    if (verdict?.ok) found.facts = verdict.facts
    else if (verdict) throw new UploadRefused(verdict)
  }
  const intake = openIntake(ports.clock, settings, upload.body, upload.announcedSha256, inspect, stop)
  if (reservation) {
    void keepReservation(ports, reservation, settings.timing.reservationMs, stop, stored.signal)
  }
  try {
    await store(ports, settings, jobId, upload, intake, stop.signal)
  } catch (error) {
    stored.abort()
    // A refusal comes from within the body, and a store keeps nothing of a body that failed.
    const mayBeStored = !(error instanceof UploadRefused)
    await Promise.all([
      reservation && ports.jobs.releaseReservation(reservation).catch(() => {}),
      mayBeStored && discard(ports, settings, jobId),
    ])
    throw error
  } finally {
    stored.abort()
    intake.close()
  }
  const { sha256, bytes } = intake.sum()
  const { contentType, width, height } = found.facts!
  const { declaredType, options } = upload
  return commit(ports, settings, reservation, {
    jobId,
    tenant: upload.tenant,
    objectKey: originalKey(jobId),
    original: { contentType, bytes, sha256, width, height },
    options: { preset: options.preset, plan: options.plan, strict: options.strict },
    warnings: typeMismatch(declaredType, contentType),
    deadlineMs: deadlineMs(upload, settings),
    callbackUrl: options.callback_url ?? null,
    traceparent: activeTraceparent(),
    idempotency: reservation && {
      key: reservation.key,
      token: reservation.token,
      fingerprint: fingerprint({ declaredType, sha256, options }),
    },
  })
}

async function store(
  { objectStore, clock }: UploadPorts,
  { timing }: UploadSettings,
  jobId: string,
  { bytes }: Upload,
  intake: Intake,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const put = objectStore.put(
    {
      key: originalKey(jobId),
      body: intake.chunks,
      ...(bytes !== null && { bytes }),
      // What the bytes are is known only once they have passed.
      contentType: 'application/octet-stream',
    },
    signal,
  )
  try {
    await Promise.race([put, stopped])
    signal.throwIfAborted()
  } catch (error) {
    // A put that was stopped is let to its end for a moment: an object that appears after its deletion stays for a day.
    await withDeadline(clock, timing.callMs, undefined, () => put).catch(() => {})
    throw signal.aborted ? signal.reason : error
  }
}

async function commit(
  ports: UploadPorts,
  settings: UploadSettings,
  reservation: Reservation | null,
  job: NewJob,
): Promise<UploadOutcome> {
  const { jobId } = job
  let accepted: Job
  try {
    const outcome = await ports.jobs.accept(job)
    if (outcome.kind === 'reservation_lost') throw new ReservationLost()
    accepted = acceptedJob(job, outcome)
  } catch (error) {
    if (error instanceof ReservationLost) {
      await discard(ports, settings, jobId)
      throw error
    }
    if (error instanceof DependencyError && error.unsent) {
      // Nothing was asked of the database, so that nothing has to be found out.
      await Promise.all([
        reservation && ports.jobs.releaseReservation(reservation).catch(() => {}),
        discard(ports, settings, jobId),
      ])
      throw error
    }
    const patienceMs = 3 * settings.timing.callMs
    const fate = await settleUnknownCommit(ports, jobId, reservation, patienceMs)
    // DANGER: only a job that can no longer appear may lose its object. A 202 may have gone out, or will, for any other.
    if (fate.kind === 'absent') await discard(ports, settings, jobId)
    if (fate.kind !== 'accepted') {
      if (!(error instanceof DependencyError)) throw error
      return { kind: 'unavailable', jobId: fate.kind === 'unknown' ? jobId : null, error }
    }
    accepted = fate.job
  }
  ports.onAccepted(jobId)
  return { kind: 'accepted', jobId, job: accepted }
}

/** What the client set, within what this service sets: no job waits for longer than its message lives. */
function deadlineMs({ options }: Upload, { timing }: UploadSettings): number {
  return Math.min(timing.deadlineMs, (options.expires_in ?? Number.POSITIVE_INFINITY) * 1_000)
}

/** Deletes the original of a job that will never be; what cannot be deleted now is left to the orphan sweep. */
async function discard(
  { objectStore, clock }: UploadPorts,
  { timing }: UploadSettings,
  jobId: string,
): Promise<void> {
  await withDeadline(clock, timing.callMs, undefined, (signal) =>
    objectStore.delete([originalKey(jobId)], signal),
  ).catch(() => {})
}

function typeMismatch(declared: string | null, found: string): ImageWarning[] {
  if (declared === null || declared === found) return []
  return [{ code: 'type_mismatch', message: `the Content-Type said ${declared}; the bytes are ${found}` }]
}
