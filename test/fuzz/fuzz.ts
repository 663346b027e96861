import { Agent } from 'node:http'
import fc from 'fast-check'
import type { OpenapiDocument } from '../../apps/api/openapi.ts'
import { makePng } from '../../apps/api/testing/png.ts'
import { createClient } from '../../client/index.ts'
import { testImage } from '../images.ts'
import { type FuzzRequest, type Known, requestsOf } from './requests.ts'
import { sendFuzz } from './send.ts'

export interface FuzzOptions {
  url: string
  key: string
  requests: number
  seed: number
  /** The place of a failure within the seed's run, as a failed run prints it. */
  path?: string | undefined
}

export interface FuzzReport {
  /** By operation and status. */
  counts: Map<string, Map<number, number>>
  /** What broke the contract, with the seed and path that show it again; null for nothing. */
  failure: string | null
}

/** Sends requests made from the service's own document; none may get a 5xx, or an answer that is not declared. */
export async function fuzz({ url, key, requests, seed, path }: FuzzOptions): Promise<FuzzReport> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenapiDocument
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const known = await prepare(url, key)
  const counts: FuzzReport['counts'] = new Map()

  const property = fc.asyncProperty(requestsOf(document, known), async (request) => {
    const status = await sendFuzz({ url, key, agent }, request)
    count(counts, `${request.method} ${request.template}`, status)
    if (status >= 500) throw new Error(`${request.method} ${request.path} → ${status}`)
  })
  try {
    const outcome = await fc.check(property, { seed, numRuns: requests, ...(path && { path }) })
    return { counts, failure: outcome.failed ? describe(outcome) : null }
  } finally {
    agent.destroy()
  }
}

/** Jobs in each state that a client can bring about, so that ids are not all unknown. */
async function prepare(url: string, key: string): Promise<Known> {
  const client = createClient({ baseUrl: url, apiKey: key })
  const images = [makePng(), makePng({ width: 30, height: 20 }), (await testImage('webp-lossy')).bytes]
  const truncated = (await testImage('jpeg-truncated')).bytes
  const accepted = await Promise.all(
    [...images, truncated, ...images].map((bytes) => client.upload(new Uint8Array(bytes))),
  )
  const jobIds = accepted.map(({ job_id: jobId }) => jobId)
  await Promise.all(jobIds.map((jobId) => client.waitFor(jobId)))
  const spareJobIds = jobIds.slice(-3)
  await client.deleteImage(spareJobIds[0]!)
  return { jobIds, spareJobIds, images }
}

function count(counts: FuzzReport['counts'], operation: string, status: number): void {
  const ofOperation = counts.get(operation) ?? new Map<number, number>()
  ofOperation.set(status, (ofOperation.get(status) ?? 0) + 1)
  counts.set(operation, ofOperation)
}

function describe({
  seed,
  counterexample,
  counterexamplePath,
  errorInstance,
}: fc.RunDetails<[FuzzRequest]>): string {
  const request = counterexample?.[0]
  const shown = request && {
    ...request,
    body: request.body && { ...request.body, bytes: request.body.bytes.toString('base64') },
  }
  return (
    `${(errorInstance as Error)?.message}\nthe smallest request found: ${JSON.stringify(shown, null, 1)}\n` +
    `again: npm run test:fuzz -- --seed ${seed} --path ${counterexamplePath}`
  )
}

/** A line for each operation: how often it was answered with which status. */
export function countLines(counts: FuzzReport['counts']): string[] {
  return [...counts].sort().map(([operation, statuses]) => {
    const parts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}×${times}`)
    return `${operation.padEnd(52)} ${parts.join('  ')}`
  })
}
