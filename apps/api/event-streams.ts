import { PROBLEMS, ProblemError } from './problem.ts'

/** Streams that are open at once: in one process, and of one tenant in it. Each holds a connection. */
const MAX_STREAMS = 1_000
const MAX_OF_TENANT = 100

/** Counts the open streams of events. */
export function createStreamCount() {
  const byTenant = new Map<string, number>()
  let all = 0
  return {
    /**
     * One more; what it returns takes it out again, once.
     *
     * @throws {ProblemError} 429 where the tenant has too many, 503 where the process has
     */
    enter(tenant: string): () => void {
      const open = byTenant.get(tenant) ?? 0
      if (open >= MAX_OF_TENANT) {
        throw new ProblemError({
          status: 429,
          code: 'too_many_streams',
          detail: `${open} streams of events are open, of ${MAX_OF_TENANT} at most`,
          retryable: true,
          headers: { 'Retry-After': '5' },
        })
      }
      if (all >= MAX_STREAMS) throw new ProblemError(PROBLEMS.unavailable)
      byTenant.set(tenant, open + 1)
      all++
      let left = false
      return () => {
        if (left) return
        left = true
        all--
        const others = byTenant.get(tenant)! - 1
        if (others === 0) byTenant.delete(tenant)
        else byTenant.set(tenant, others)
      }
    },
  }
}
