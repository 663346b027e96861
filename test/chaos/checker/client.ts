import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '../seeded-chance.ts'
import type { CheckerOrder, Findings, Upload } from './ledger.ts'

export interface Load {
  uploads: Upload[]
  unanswered(): number
  /** Begins no further upload and resolves once each has its answer. */
  finish(): Promise<void>
}

/** Clients as the API asks them to be: each upload has a key, and is sent again with it until it is answered. */
export function startLoad(order: CheckerOrder, chance: Chance, findings: Findings): Load {
  const { apiUrl, folder, images, clients, pauseMs, maxOpen } = order
  const uploads: Upload[] = []
  const bodies = new Map(images.map(({ file }) => [file, readFileSync(path.join(folder, file))]))
  let finishing = false
  let unanswered = 0

  const running = Array.from({ length: clients }, client)

  async function client(_: unknown, number: number): Promise<void> {
    for (let i = 0; !finishing; i++) {
      if (uploads.filter(isOpen).length >= maxOpen) {
        await delay(200)
        continue
      }
      const upload: Upload = {
        key: `client-${number}-upload-${i}`,
        image: chance.pick(images),
        jobId: null,
        status: null,
      }
      uploads.push(upload)
      await send(upload)
      if (chance.next() < 0.15) await send(upload)
      if (chance.next() < 0.05) await sendOther(upload)
      await delay(pauseMs)
    }
  }

  /** Until it is accepted, however often that takes. */
  async function send(upload: Upload): Promise<void> {
    while (true) {
      const answer = await post(upload.key, upload.image.file, upload.image.contentType)
      if (answer?.status === 202) {
        const jobId = String(answer.body.job_id)
        if (upload.jobId !== null && upload.jobId !== jobId) {
          findings.duplicated.push(`${upload.key} became two jobs, ${upload.jobId} and ${jobId}`)
        }
        upload.jobId = jobId
        return
      }
      if (answer && ![409, 429, 503].includes(answer.status)) {
        findings.unexpected.push(
          `${upload.key}: POST answered ${answer.status} ${JSON.stringify(answer.body)}`,
        )
        if (answer.status < 500) return
      }
      unanswered += 1
      await delay(250)
    }
  }

  /** Other bytes under a key that has a job are refused, or not answered. */
  async function sendOther({ key, image, jobId }: Upload): Promise<void> {
    const other = images.find(({ sha256 }) => sha256 !== image.sha256)!
    const answer = await post(key, other.file, other.contentType)
    if (answer?.status === 202) {
      findings.duplicated.push(`${key} of ${jobId} took other bytes and became ${answer.body.job_id}`)
    }
  }

  async function post(key: string, file: string, contentType: string) {
    try {
      const response = await fetch(`${apiUrl}/v1/images`, {
        method: 'POST',
        headers: { 'content-type': contentType, 'idempotency-key': key },
        body: new Uint8Array(bodies.get(file)!),
        signal: AbortSignal.timeout(10_000),
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    } catch {
      return null
    }
  }

  return {
    uploads,
    unanswered: () => unanswered,
    async finish() {
      finishing = true
      await Promise.all(running)
    },
  }
}

/** Accepted, and not known to have ended. */
export function isOpen({ jobId, status }: Upload): boolean {
  return jobId !== null && status !== 'SUCCEEDED' && status !== 'FAILED'
}
