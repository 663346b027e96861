import { hashApiKey, mintApiKey } from '../../../core/api-key.ts'
import { isTerminal } from '../../../core/job.ts'
import type { TenantLimits, Tenants } from '../../../core/ports/tenants.ts'
import { systemRandom } from '../../../infra/system-random.ts'
import type { Tables } from '../../../test/simulation/memory/tables.ts'

const PLENTY: TenantLimits = { ratePerSecond: 1_000, burst: 1_000, maxInFlight: 1_000 }

/** The `Tenants` port in memory, and how often it was asked what. */
export function createMemoryTenants() {
  const keys = new Map<string, { keyHash: Buffer; name: string }>()
  const limitsOf = new Map<string, TenantLimits>()
  const asked = { findByKey: 0, countInFlight: 0 }
  const state = { tables: null as Tables | null }
  const tenants: Tenants = {
    async findByKey(keyHash) {
      asked.findByKey++
      const known = keys.get(Buffer.from(keyHash).toString('hex'))
      const limits = known && limitsOf.get(known.name)
      return known && limits ? { keyHash: known.keyHash, tenant: { name: known.name, limits } } : null
    },
    async countInFlight(tenant, atMost) {
      asked.countInFlight++
      const jobs = [...(state.tables?.jobs.values() ?? [])]
      return Math.min(atMost, jobs.filter((job) => job.tenant === tenant && !isTerminal(job.status)).length)
    },
  }
  return {
    ...{ tenants, asked, state },
    /** Makes a key of the tenant, which has these limits from now on. */
    makeKey(name: string, limits: Partial<TenantLimits> = {}): string {
      const key = mintApiKey(systemRandom)
      const keyHash = hashApiKey(key)
      keys.set(keyHash.toString('hex'), { keyHash, name })
      limitsOf.set(name, { ...PLENTY, ...limits })
      return key
    },
    revoke: (key: string) => void keys.delete(hashApiKey(key).toString('hex')),
  }
}
