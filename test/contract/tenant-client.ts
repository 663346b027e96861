import { randomUUID } from 'node:crypto'
import type { AcceptedJobBody, JobBody } from '../../apps/api/schemas/job.ts'
import type { ProblemBody } from '../../apps/api/schemas/problem.ts'
import { makePng } from '../../apps/api/testing/png.ts'
import { until } from '../end-to-end/stack.ts'
import { checkedFetch } from './checked-fetch.ts'
import { contractService } from './service.ts'

/** Speaks to the service under test as one tenant; each answer is held against the document. */
export interface TenantClient {
  url: string
  key: string
  fetch(path: string, init?: RequestInit): Promise<Response>
  post(body?: Buffer, headers?: Record<string, string>, query?: string): Promise<Response>
  /** The job of an image that has to be accepted. */
  accept(body?: Buffer, headers?: Record<string, string>, query?: string): Promise<AcceptedJobBody>
  job(jobId: string): Promise<JobBody>
  /** The job once it is done. */
  ended(jobId: string): Promise<JobBody>
}

export async function tenantClient(which: 'key' | 'otherKey' = 'key'): Promise<TenantClient> {
  const service = await contractService()
  const { url } = service
  const key = service[which]
  const client: TenantClient = {
    url,
    key,
    fetch: (path, init = {}) =>
      checkedFetch(url + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } }),
    post: (body = newImage(), headers = {}, query = '') =>
      client.fetch(`/v1/images${query}`, { method: 'POST', body: new Uint8Array(body), headers }),
    async accept(body, headers, query) {
      const response = await client.post(body, headers, query)
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
      return (await response.json()) as AcceptedJobBody
    },
    job: async (jobId) => (await client.fetch(`/v1/jobs/${jobId}`)).json() as Promise<JobBody>,
    ended: (jobId) =>
      until(async () => {
        const job = await client.job(jobId)
        return job.done && job
      }),
  }
  return client
}

/** An image that nobody has sent before. */
export function newImage(): Buffer {
  return makePng({
    padding: 16,
    colour: Math.floor(Math.random() * 256),
    width: 3 + Math.floor(Math.random() * 500),
  })
}

/** One that keeps a worker for a while. */
export function slowImage(): Buffer {
  return makePng({ width: 9_000, height: 9_000, colour: Math.floor(Math.random() * 256) })
}

export const newKey = (): string => randomUUID()

export async function problem(response: Response): Promise<ProblemBody> {
  return (await response.json()) as ProblemBody
}
