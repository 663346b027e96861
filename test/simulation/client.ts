import { createHash } from 'node:crypto'
import { fingerprint, type UploadOptions } from '../../apps/api/fingerprint.ts'
import type { UploadOutcome } from '../../apps/api/upload.ts'
import { DEFAULT_OPTIONS, isTerminal, type JobStatus } from '../../core/job.ts'
import type { Fleet } from './fleet.ts'
import { foreseen } from './invariants/foreseen.ts'
import { recordId } from './memory/tables.ts'
import type { PlannedUpload } from './scenario.ts'
import { encodeImage } from './simulated-image.ts'
import type { SimulatedPorts } from './simulated-ports.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** One client with one image: uploads it, sends it again where it has to, and asks how it is. */
export interface Client {
  /** What it was promised; null until then, and for what was refused. */
  jobId(): string | null
  /** Whether it has stopped sending. */
  settled(): boolean
}

/** How long a client waits for an answer, and between two requests. */
const PATIENCE_MS = 150_000
const PAUSE_MS = 5_000
const MAX_TRIES = 20

/** Half of them ask for a callback: the same request does each time, whoever sends it. */
function optionsOf({ key }: PlannedUpload): UploadOptions {
  return {
    ...DEFAULT_OPTIONS,
    ...((key === null || !/[13579]$/.test(key)) && { callback_url: 'https://hooks.example/' }),
  }
}

export function startClient(world: World, fleet: Fleet, upload: PlannedUpload, name: string): Client {
  const { scenario, scheduler, trace, report } = world
  const body = encodeImage(upload.image)
  const sha256 = createHash('sha256').update(body).digest('hex')
  world.images.set(sha256, upload.image)
  let jobId: string | null = null
  let settled = false
  let tries = 0
  let newestStatus: JobStatus | null = null
  scheduler.schedule(upload.atMs, send)
  return { jobId: () => jobId, settled: () => settled }

  function send(): void {
    tries++
    const connection = fleet.api()
    if (!connection) {
      again()
      return
    }
    const { process, api } = connection
    let answered = false
    const answer = (act: () => void) => {
      if (answered) return
      answered = true
      patience.cancel()
      process.offDeath(broken)
      act()
    }
    const broken = () => scheduler.schedule(1, () => answer(again))
    const patience = scheduler.schedule(PATIENCE_MS, () => answer(again))
    process.onDeath(broken)
    trace.note(name, 'uploads', () => `${upload.image.kind} ${upload.key ?? ''}`)
    process.deliver(() => {
      const request = {
        ...{ tenant: upload.tenant, key: upload.key, bytes: body.length },
        ...{ declaredType: 'image/png', body: chunks(process) },
        ...{ options: optionsOf(upload), announcedSha256: null, holdsBodyBack: false },
      }
      api.upload(request, new AbortController().signal).then(
        (outcome) => scheduler.schedule(1, () => answer(() => hear(outcome))),
        (error) => {
          if (!foreseen(error)) report('defect', `an upload failed: ${error.stack}`)
          scheduler.schedule(1, () => answer(again))
        },
      )
    })
  }

  async function* chunks(process: SimulatedProcess): AsyncGenerator<Uint8Array> {
    yield body.subarray(0, 20)
    await process.clock.sleep(50)
    if (upload.breaksOff) throw new Error('the client is gone')
    yield body.subarray(20)
  }

  function hear(outcome: UploadOutcome): void {
    trace.note(name, `hears ${outcome.kind}`, () => ('jobId' in outcome ? String(outcome.jobId) : ''))
    switch (outcome.kind) {
      case 'accepted':
        promised(outcome.jobId)
        return
      case 'replayed':
        promised(outcome.job.jobId)
        return
      case 'in_progress':
      case 'unavailable':
        again()
        return
      case 'key_conflict':
        checkConflict()
        settled = true
        return
      case 'refused':
        // An API that stood still for long takes its own sleep for the client's.
        if (outcome.refusal.status === 408) {
          again()
          return
        }
        report('defect', `a good request was refused: ${outcome.refusal.message}`)
        settled = true
        return
      case 'aborted':
        if (!upload.breaksOff) report('defect', 'an upload was aborted by nobody')
        settled = true
    }
  }

  /** Without a key the same request again would be another job. */
  function again(): void {
    if (scenario.clientRetries && upload.key !== null && tries < MAX_TRIES) scheduler.schedule(PAUSE_MS, send)
    else settled = true
  }

  function promised(accepted: string): void {
    jobId = accepted
    settled = true
    const { tables, store } = world
    const job = tables.jobs.get(accepted)
    if (!job) report('accepted_is_durable', `${name} was promised ${accepted}, which has no row`)
    if (!job || job.deletedAt !== null) return
    const { key, tenant } = upload
    const record = key === null ? null : tables.idempotencyRecords.get(recordId({ tenant, key }))
    if (key !== null && record?.jobId !== accepted) {
      report('idempotent', `${name} was promised ${accepted}, and its key stands for ${record?.jobId}`)
    }
    if (key !== null) {
      const request = [tenant, key, sha256].join()
      const before = world.promises.get(request) ?? accepted
      if (before !== accepted)
        report('idempotent', `${name} was promised ${accepted}, and before that ${before}`)
      world.promises.set(request, accepted)
    }
    if (job.tenant !== tenant) report('idempotent', `${name} was given a job of ${job.tenant}`)
    if (job.original.sha256 !== sha256 || store.look(job.objectKey)?.sha256 !== sha256) {
      report('accepted_is_durable', `${name} was promised ${accepted}, which has other bytes`)
    }
    const waiting = job.status === 'QUEUED' && job.attempts === 0 && job.generation === 1
    if (waiting && !tables.outbox.has(accepted) && job.publishedAt === null) {
      report('accepted_is_durable', `${accepted} is QUEUED with neither outbox row nor publication`)
    }
    scheduler.schedule(PAUSE_MS, ask)
  }

  /** A 422 needs a record of another request. */
  function checkConflict(): void {
    const { tenant, key } = upload
    const record = key === null ? null : world.tables.idempotencyRecords.get(recordId({ tenant, key }))
    const own = fingerprint({ declaredType: 'image/png', sha256, options: optionsOf(upload) })
    if (!record?.jobId || record.fingerprint === own)
      report('idempotent', `${name} was told of a conflict that is none`)
  }

  /** What the status may become, a client sees in this order. */
  function ask(): void {
    const connection = fleet.api()
    if (!connection || !jobId) return void scheduler.schedule(PAUSE_MS, ask)
    const ports: SimulatedPorts = world.portsOf(connection.process)
    connection.process.deliver(() => {
      ports.jobs.find(jobId!).then(
        (job) => {
          if (!job) return
          const was = newestStatus
          newestStatus = job.status
          const retried = job.generation > 1
          if (was && isTerminal(was) && was !== job.status && !retried && job.deletedAt === null) {
            report('arrows', `${name} read ${job.status} after ${was}`)
          }
          if (!isTerminal(job.status)) scheduler.schedule(4 * PAUSE_MS, ask)
        },
        () => scheduler.schedule(PAUSE_MS, ask),
      )
    })
  }
}
