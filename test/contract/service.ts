import { inject } from 'vitest'
import type { ContractService } from './stack.ts'

export type { ContractService } from './stack.ts'

/**
 * The service under test: the one of `IMG42_URL`, with the keys `IMG42_KEY` and `IMG42_OTHER_KEY` of two tenants; without
 * them one that the run starts when it is first asked for, which all test files share.
 */
export async function contractService(): Promise<ContractService> {
  const { IMG42_URL: url, IMG42_KEY: key, IMG42_OTHER_KEY: otherKey } = process.env
  if (url && key && otherKey) return { url: url.replace(/\/$/, ''), key, otherKey }
  if (url || key || otherKey) throw new Error('IMG42_URL, IMG42_KEY and IMG42_OTHER_KEY go together')
  const response = await fetch(inject('contractStack'))
  if (!response.ok) throw new Error(`the service did not start: ${await response.text()}`)
  return (await response.json()) as ContractService
}
