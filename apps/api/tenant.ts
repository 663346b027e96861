import type { IncomingMessage } from 'node:http'
import type { Tenant } from '../../core/ports/tenants.ts'

/** Whose everything is where no keys are asked for. */
export const ONLY_TENANT: Tenant = { name: 'default', limits: null }

const tenants = new WeakMap<IncomingMessage, Tenant>()

export function setTenant(request: IncomingMessage, tenant: Tenant): void {
  tenants.set(request, tenant)
}

/** The request's tenant with its limits; null before its key was looked at, and where none is asked for. */
export function findTenant(request: IncomingMessage): Tenant | null {
  return tenants.get(request) ?? null
}

/** Whose request it is. */
export function tenantOf(request: IncomingMessage): string {
  const tenant = tenants.get(request)
  // A route that nobody guards must not answer as if it were everybody's.
  if (!tenant) throw new Error('the request reached a tenant’s route without a tenant')
  return tenant.name
}
