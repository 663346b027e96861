import { timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import { hashApiKey, isApiKey } from '../../core/api-key.ts'
import type { Tenant, Tenants } from '../../core/ports/tenants.ts'
import { shareReads } from './auth-shared-reads.ts'
import { PROBLEMS, ProblemError } from './problem.ts'
import { ONLY_TENANT, setTenant } from './tenant.ts'

/**
 * Finds the tenant of each request by its `Authorization: Bearer`. Without a key, with a malformed, an unknown or a
 * revoked one, the answer is the same 401.
 *
 * The table is asked for each request, so that a revocation holds from its commit on.
 *
 * @param tenants null where no keys are asked for: everything is one tenant's
 */
export function authenticate(tenants: Tenants | null): RequestHandler {
  if (!tenants) {
    return (request, _response, next) => {
      setTenant(request, ONLY_TENANT)
      next()
    }
  }
  const findTenant = shareReads((hash) => find(tenants, hash))
  return async (request, response, next) => {
    const key = bearerToken(request)
    const tenant = key !== null && isApiKey(key) ? await findTenant(hashApiKey(key).toString('hex')) : null
    if (!tenant) throw new ProblemError(PROBLEMS.unauthorized)
    setTenant(request, tenant)
    response.locals.tenant = tenant.name
    next()
  }
}

async function find(tenants: Tenants, hash: string): Promise<Tenant | null> {
  const asked = Buffer.from(hash, 'hex')
  const known = await tenants.findByKey(asked)
  // The index has compared them already, and of hashes that gives nothing away. Here the comparison is in constant time
  // and of all the bytes, whatever the database's collations and casts come to be.
  return known && timingSafeEqual(asked, known.keyHash) ? known.tenant : null
}

/** null for a header that is missing, of another scheme, or sent twice. */
function bearerToken({ headersDistinct: { authorization } }: Request): string | null {
  if (authorization?.length !== 1) return null
  return /^bearer +(\S+)$/i.exec(authorization[0]!)?.[1] ?? null
}
