import { setTimeout as delay } from 'node:timers/promises'
import { isOpen } from './client.ts'
import type { Findings, Upload } from './ledger.ts'

/** Asks the API for every job that has not ended, over and over, and holds each answer against the one before. */
export function startWatch(
  apiUrl: string,
  uploads: readonly Upload[],
  findings: Findings,
  stop: AbortSignal,
) {
  async function run(): Promise<void> {
    while (!stop.aborted) {
      for (const upload of uploads.filter(isOpen)) {
        if (stop.aborted) return
        await look(apiUrl, upload, findings)
      }
      await delay(300)
    }
  }
  return run()
}

/** One look at a job through the API. False when there was no answer to judge. */
export async function look(apiUrl: string, upload: Upload, findings: Findings): Promise<boolean> {
  const { jobId } = upload
  const answer = await ask(`${apiUrl}/v1/jobs/${jobId}`)
  if (!answer || answer.status === 503) return false
  if (answer.status === 404 || answer.status === 410) {
    findings.lost.push(`${jobId} was accepted, and the API answers ${answer.status}`)
    upload.status = 'FAILED'
    return true
  }
  const status = String(answer.body.status)
  if (answer.status !== 200 || !['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED'].includes(status)) {
    findings.unexpected.push(`${jobId}: GET answered ${answer.status} ${JSON.stringify(answer.body)}`)
    return false
  }
  if (upload.status !== null && ['SUCCEEDED', 'FAILED'].includes(upload.status) && upload.status !== status) {
    findings.unexpected.push(`${jobId} was ${upload.status} and is ${status}`)
  }
  upload.status = status
  return true
}

async function ask(url: string): Promise<{ status: number; body: Record<string, unknown> } | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  } catch {
    return null
  }
}
